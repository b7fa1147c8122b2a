/* The name of the operating system's kernel, under which the library's best variant was found. */
#ifndef TL_HOST_SYSTEM_H
#define TL_HOST_SYSTEM_H

/* "Linux 6.1.0-28-amd64"; the text is static. */
const char *system_name(void);

#endif
