/* The settings of the thread team in which workers run kernels. */
#ifndef TL_HOST_TEAM_H
#define TL_HOST_TEAM_H

/* Sets the environment variables of this process for its workers: their OpenMP teams have so many
 * threads, which are bound to cores from the first kernel on, for candidate and baseline alike. */
void team_environment(int threads);

#endif
