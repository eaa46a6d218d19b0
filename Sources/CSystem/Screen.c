#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

// The alternate screen (1049), the mouse (1000, 1006), bracketed paste (2004), the cursor (25) and the stack of titles
// (22, 23) of xterm's ctlseqs.
static const char enter_text[] = "\033[22;2t\033[?1049h\033[?25l\033[?1000h\033[?1006h\033[?2004h\033[2J";
static const char leave_text[] = "\033[0m\033[?2004l\033[?1006l\033[?1000l\033[?25h\033[?1049l\033[23;2t";
static const char enter_keys[] = "\033[?2004h";
static const char leave_keys[] = "\033[?2004l";

static struct termios before;
static volatile sig_atomic_t is_entered, is_stop_wanted, was_continued, knows_before, has_keys_only;

static void send(const char *text, size_t count) {
    while (count > 0) {
        // With keys only, stdout may be a file. The progress is on stderr.
        ssize_t sent = write(has_keys_only ? STDERR_FILENO : STDOUT_FILENO, text, count);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return;
        text += sent;
        count -= (size_t)sent;
    }
}

static void on_stop(int signal);

// Only calls that a signal handler may make (signal-safety(7)).
void dlm_screen_leave(void) {
    if (!__atomic_exchange_n(&is_entered, 0, __ATOMIC_SEQ_CST)) return;
    int error = errno;
    // From now on nothing asks whether the user wants to stop the process.
    struct sigaction action;
    if (sigaction(SIGTSTP, NULL, &action) == 0 && action.sa_handler == on_stop) signal(SIGTSTP, SIG_DFL);
    // In the background, as after SIGSTOP and `bg`, tcsetattr would stop the process. Without the flush, keys that were
    // typed for the screen but not read would become input of the shell. With keys only, the settings come first,
    // because the terminal may take no output.
    int is_in_foreground = tcgetpgrp(STDIN_FILENO) == getpgrp();
    if (has_keys_only && is_in_foreground) tcsetattr(STDIN_FILENO, TCSANOW, &before);
    send(has_keys_only ? leave_keys : leave_text, (has_keys_only ? sizeof leave_keys : sizeof leave_text) - 1);
    if (!has_keys_only && is_in_foreground) tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    errno = error;
}

static void stop(void) {
    dlm_screen_leave();
    signal(SIGTSTP, SIG_DFL);
    // Threads of libdispatch block all signals, and a blocked signal would not stop the process.
    sigset_t only, others;
    sigemptyset(&only);
    sigaddset(&only, SIGTSTP);
    pthread_sigmask(SIG_UNBLOCK, &only, &others);
    raise(SIGTSTP);
    pthread_sigmask(SIG_SETMASK, &others, NULL);
    was_continued = 1;
}

static void on_stop(int signal) {
    (void)signal;
    // A screen is not left in the middle of its drawing.
    if (has_keys_only) stop(); else is_stop_wanted = 1;
}

static void on_continue(int signal) {
    (void)signal;
    was_continued = 1;
}

static void on_crash(int number) {
    dlm_screen_leave();
    signal(number, SIG_DFL);
    raise(number);
}

// Sets a handler, unless the signal is ignored or has another handler already.
static void handle(int number, void (*handler)(int)) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) != 0 || action.sa_handler != SIG_DFL) return;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(number, &action, NULL);
}

int dlm_screen_enter(int keys_only) {
    has_keys_only = keys_only;
    if (!knows_before && tcgetattr(STDIN_FILENO, &before) != 0) return -1;
    knows_before = 1;
    static const int crashes[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP, SIGQUIT};
    for (size_t index = 0; index < sizeof crashes / sizeof *crashes; index++) handle(crashes[index], on_crash);
    handle(SIGTSTP, on_stop);
    handle(SIGCONT, on_continue);
    was_continued = 0;
    struct termios raw = before;
    // With keys only, Ctrl-S still stops the output.
    if (!keys_only) raw.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR | ISTRIP | IXON);
    // Ctrl-C, Ctrl-Z and Ctrl-\ stay signals.
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    is_entered = 1;
    if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) != 0) {
        is_entered = 0;
        return -1;
    }
    send(keys_only ? enter_keys : enter_text, (keys_only ? sizeof enter_keys : sizeof enter_text) - 1);
    return 0;
}

int dlm_screen_stop_if_asked(void) {
    if (!is_stop_wanted) return 0;
    is_stop_wanted = 0;
    stop();
    return 1;
}

int dlm_screen_was_continued(void) { return __atomic_exchange_n(&was_continued, 0, __ATOMIC_SEQ_CST); }
