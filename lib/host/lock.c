#include "lib/host/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/io/record.h"

int lock_device(const char *device, int nowait, struct err *e)
{
	const char *folder = getenv("TL_LOCKS");
	char path[4096];
	int fd;

	/* The same path for every user; whoever comes first makes the file, the others only need to
	 * read it. */
	snprintf(path, sizeof path, "%s/tl-%s.lock", folder && *folder ? folder : "/tmp", device);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_sys(e, "cannot open the lock %s", path);
	fchmod(fd, 0644); /* whatever the umask; fails for all but its owner, who did it */
	while (flock(fd, LOCK_EX | (nowait ? LOCK_NB : 0)) < 0) {
		if (errno == EINTR && !rec_stopped())
			continue;
		if (rec_stopped())
			err_set(e, "stopped while another run was timing");
		else if (errno == EWOULDBLOCK)
			err_status(e, EXIT_BUSY, "another run is timing on this machine's %s",
				   device);
		else
			err_sys(e, "cannot take the lock %s", path);
		close(fd);
		return -1;
	}
	return fd;
}
