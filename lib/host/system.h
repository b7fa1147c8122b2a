/* The kernel of the operating system: what the library's choice of an implementation was found
 * under. */
#ifndef TL_HOST_SYSTEM_H
#define TL_HOST_SYSTEM_H

/* "Linux 6.1.0-28-amd64"; the text is static. */
const char *system_name(void);

#endif
