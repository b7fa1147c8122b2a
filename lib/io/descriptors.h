/* The standard streams of a process, for one that was started with some of them closed
 * (`tl-gen <&-`). Whatever a process opens first would take their numbers: a program would then
 * read its own pipe as standard input, or print into a database.
 */
#ifndef TL_IO_DESCRIPTORS_H
#define TL_IO_DESCRIPTORS_H

/* Opens those of 0, 1 and 2 that are closed; to be called before anything else is opened. Reading
 * standard input and writing standard output still fail (EBADF), as before, so that nothing is
 * taken for an empty input, or lost in silence. Standard error becomes /dev/null: who closes it
 * wants no messages, and a message that cannot be written changes nothing. Ends the process with
 * EXIT_INPUT if there is no /dev/null. */
void descriptors_open(void);

#endif
