// libcurl brings some thirty libraries. So it is not loaded with the program, but at its first use, or earlier by
// dlm_curl_prepare. Loading them would be a third of the cost of a command that fetches nothing. The functions below
// have libcurl's names and types, and call the loaded library. Symbols are bound lazily, because a transfer uses few of
// the calls that the thirty libraries make to each other.
#include "CCurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// curl.h has macros of these names.
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt
#undef curl_share_setopt

// Each entry has a return type, a name, parameters and arguments.
#define FUNCTIONS(EACH)                                                                                     \
    EACH(CURL *, curl_easy_init, (void), ())                                                                \
    EACH(void, curl_easy_cleanup, (CURL * easy), (easy))                                                    \
    EACH(CURLcode, curl_easy_pause, (CURL * easy, int mask), (easy, mask))                                  \
    EACH(const char *, curl_easy_strerror, (CURLcode code), (code))                                         \
    EACH(void, curl_free, (void *memory), (memory))                                                         \
    EACH(CURLcode, curl_global_init, (long flags), (flags))                                                 \
    EACH(CURLM *, curl_multi_init, (void), ())                                                              \
    EACH(CURLMcode, curl_multi_cleanup, (CURLM * multi), (multi))                                           \
    EACH(CURLMcode, curl_multi_add_handle, (CURLM * multi, CURL *easy), (multi, easy))                      \
    EACH(CURLMcode, curl_multi_remove_handle, (CURLM * multi, CURL *easy), (multi, easy))                   \
    EACH(CURLMsg *, curl_multi_info_read, (CURLM * multi, int *left), (multi, left))                        \
    EACH(CURLMcode, curl_multi_socket_action, (CURLM * multi, curl_socket_t socket, int mask, int *running), \
         (multi, socket, mask, running))                                                                    \
    EACH(const char *, curl_multi_strerror, (CURLMcode code), (code))                                       \
    EACH(CURLSH *, curl_share_init, (void), ())                                                             \
    EACH(CURLSHcode, curl_share_cleanup, (CURLSH * share), (share))                                         \
    EACH(struct curl_slist *, curl_slist_append, (struct curl_slist * list, const char *text), (list, text)) \
    EACH(void, curl_slist_free_all, (struct curl_slist * list), (list))                                     \
    EACH(CURLU *, curl_url, (void), ())                                                                     \
    EACH(void, curl_url_cleanup, (CURLU * url), (url))                                                      \
    EACH(CURLUcode, curl_url_set, (CURLU * url, CURLUPart part, const char *text, unsigned int flags),      \
         (url, part, text, flags))                                                                          \
    EACH(curl_version_info_data *, curl_version_info, (CURLversion age), (age))

// Every option takes a long, a curl_off_t or a pointer. All of these are passed in the same way as a pointer.
#define OPTIONS(EACH)                             \
    EACH(CURLcode, curl_easy_setopt, CURL, CURLoption)     \
    EACH(CURLcode, curl_easy_getinfo, CURL, CURLINFO)      \
    EACH(CURLMcode, curl_multi_setopt, CURLM, CURLMoption) \
    EACH(CURLSHcode, curl_share_setopt, CURLSH, CURLSHoption)

_Static_assert(sizeof(long) == sizeof(void *) && sizeof(curl_off_t) == sizeof(void *), "options must fit");

static struct {
#define FUNCTION(type, name, parameters, arguments) type(*name) parameters;
#define OPTION(type, name, handle, option) type (*name)(handle *, option, ...);
    FUNCTIONS(FUNCTION)
    OPTIONS(OPTION)
    // The first parameter of `curl_url_get` is const in some versions of libcurl.
    __typeof__(curl_url_get) *curl_url_get;
} library;

static char failure[512];

static void *find(void *handle, const char *name) {
    void *function = dlsym(handle, name);
    if (!function) snprintf(failure, sizeof failure, "%s", dlerror());
    return function;
}

static void load(void) {
    void *handle = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_LOCAL);
    if (!handle) {
        snprintf(failure, sizeof failure, "%s", dlerror());
        return;
    }
#define FIND(type, name, ...) *(void **)&library.name = find(handle, #name);
    FUNCTIONS(FIND)
    OPTIONS(FIND)
    FIND(, curl_url_get)
}

const char *dlm_curl_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return failure[0] ? failure : NULL;
}

static CURLcode initialized;

static void initialize(void) { initialized = curl_global_init(CURL_GLOBAL_DEFAULT); }

CURLcode dlm_curl_global_init(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, initialize);
    return initialized;
}

static void *prepare(void *nothing) {
    if (!dlm_curl_load()) dlm_curl_global_init();
    return nothing;
}

void dlm_curl_prepare(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, prepare, NULL) == 0) pthread_detach(thread);
}

static void require(void) {
    const char *reason = dlm_curl_load();
    if (!reason) return;
    fprintf(stderr, "dlm: %s\n", reason);
    abort();
}

#define PASS_ON(type, name, parameters, arguments) \
    type name parameters {                         \
        require();                                 \
        return library.name arguments;             \
    }
FUNCTIONS(PASS_ON)

#define PASS_ON_OPTION(type, name, handle, option)        \
    type name(handle *object, option number, ...) {       \
        require();                                        \
        va_list list;                                     \
        va_start(list, number);                           \
        void *value = va_arg(list, void *);               \
        va_end(list);                                     \
        return library.name(object, number, value);       \
    }
OPTIONS(PASS_ON_OPTION)

CURLUcode dlm_url_text(CURLU *url, char **text) {
    require();
    return library.curl_url_get(url, CURLUPART_URL, text, 0);
}
