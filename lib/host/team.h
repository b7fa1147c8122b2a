/* The team of threads that workers run kernels with. */
#ifndef TL_HOST_TEAM_H
#define TL_HOST_TEAM_H

/* Makes this process's environment that of workers: their team has so many threads, and stands on
 * its cores from the first kernel on, for candidate and baseline alike. */
void team_environment(int threads);

#endif
