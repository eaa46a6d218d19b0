// usage: launch REPORT program [argument ...]
// Runs the program and writes its cost to the file REPORT, as numbers in one line: start and end (ns, CLOCK_MONOTONIC),
// user and system time (us), peak memory (KiB), voluntary and involuntary switches, exit status (or 128 + signal).
// Python is not the parent itself, because Linux counts the parent's memory at the time of exec as the child's.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long long microseconds(struct timeval t) { return t.tv_sec * 1000000LL + t.tv_usec; }

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    long long start = now();
    pid_t child = fork();
    if (child < 0) return 2;
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        // A benchmark that was started with & ignores SIGINT, and the program would inherit this.
        signal(SIGINT, SIG_DFL);
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    // A SIGINT to the whole group is meant for the program.
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    int status;
    struct rusage used;
    if (wait4(child, &status, 0, &used) < 0) return 2;
    long long end = now();
    FILE *report = fopen(argv[1], "w");
    if (!report) return 2;
    fprintf(report, "%lld %lld %lld %lld %ld %ld %ld %d\n", start, end, microseconds(used.ru_utime),
            microseconds(used.ru_stime), used.ru_maxrss, used.ru_nvcsw, used.ru_nivcsw,
            WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return fclose(report) == 0 ? 0 : 2;
}
