#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

// The alternate screen (1049), the mouse (1000, 1006), bracketed paste (2004) and the cursor (25) of xterm's ctlseqs.
static const char enter_text[] = "\033[?1049h\033[?25l\033[?1000h\033[?1006h\033[?2004h\033[2J";
static const char leave_text[] = "\033[0m\033[?2004l\033[?1006l\033[?1000l\033[?25h\033[?1049l";

static struct termios before;
static volatile sig_atomic_t is_entered, is_stop_wanted, was_continued, knows_before;

static void send(const char *text, size_t count) {
    while (count > 0) {
        ssize_t sent = write(STDOUT_FILENO, text, count);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return;
        text += sent;
        count -= (size_t)sent;
    }
}

// Only calls that a signal handler may make (signal-safety(7)).
void dlm_screen_leave(void) {
    if (!__atomic_exchange_n(&is_entered, 0, __ATOMIC_SEQ_CST)) return;
    int error = errno;
    send(leave_text, sizeof leave_text - 1);
    // Bytes that were typed but not read would otherwise become input of the shell.
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    errno = error;
}

static void on_stop(int signal) {
    (void)signal;
    is_stop_wanted = 1;
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

int dlm_screen_enter(void) {
    if (!knows_before && tcgetattr(STDIN_FILENO, &before) != 0) return -1;
    knows_before = 1;
    static const int crashes[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP, SIGQUIT};
    for (size_t index = 0; index < sizeof crashes / sizeof *crashes; index++) handle(crashes[index], on_crash);
    handle(SIGTSTP, on_stop);
    handle(SIGCONT, on_continue);
    was_continued = 0;
    struct termios raw = before;
    raw.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR | ISTRIP | IXON);
    // Ctrl-C, Ctrl-Z and Ctrl-\ stay signals.
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    is_entered = 1;
    if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) != 0) {
        is_entered = 0;
        return -1;
    }
    send(enter_text, sizeof enter_text - 1);
    return 0;
}

int dlm_screen_stop_if_asked(void) {
    if (!is_stop_wanted) return 0;
    is_stop_wanted = 0;
    dlm_screen_leave();
    signal(SIGTSTP, SIG_DFL);
    // Threads of libdispatch block all signals, and a blocked signal would not stop the process.
    sigset_t stop, others;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    pthread_sigmask(SIG_UNBLOCK, &stop, &others);
    raise(SIGTSTP);
    pthread_sigmask(SIG_SETMASK, &others, NULL);
    return 1;
}

int dlm_screen_was_continued(void) { return __atomic_exchange_n(&was_continued, 0, __ATOMIC_SEQ_CST); }
