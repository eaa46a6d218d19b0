#include "HeadOracle.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

// The program loads libcurl at its first use, and has functions of some of these names (Sources/CCurl/Library.c). So the
// functions are asked for by name here, too.
#undef curl_easy_setopt
#undef curl_easy_getinfo

static struct {
    __typeof__(curl_easy_init) *init;
    __typeof__(curl_easy_setopt) *set;
    __typeof__(curl_easy_getinfo) *get;
    __typeof__(curl_easy_perform) *perform;
    __typeof__(curl_easy_nextheader) *next;
    __typeof__(curl_easy_cleanup) *cleanup;
} curl;

__attribute__((constructor)) static void load(void) {
    void *library = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_LOCAL);
    if (!library) return;
    curl.init = dlsym(library, "curl_easy_init");
    curl.set = dlsym(library, "curl_easy_setopt");
    curl.get = dlsym(library, "curl_easy_getinfo");
    curl.perform = dlsym(library, "curl_easy_perform");
    curl.next = dlsym(library, "curl_easy_nextheader");
    curl.cleanup = dlsym(library, "curl_easy_cleanup");
}

struct server {
    int listener;
    const void *bytes;
    size_t count;
};

/// Sends the bytes to the first client, and reads its request until it disconnects.
static void *serve(void *context) {
    struct server *server = context;
    int client = accept(server->listener, NULL, NULL);
    if (client < 0) abort();
    const char *next = server->bytes, *end = next + server->count;
    while (next < end) {
        ssize_t sent = send(client, next, end - next, MSG_NOSIGNAL);
        if (sent <= 0) break;
        next += sent;
    }
    shutdown(client, SHUT_WR);
    char request[512];
    while (read(client, request, sizeof request) > 0) {}
    close(client);
    return NULL;
}

static size_t take_line(char *bytes, size_t size, size_t count, void *context) {
    const struct dlmtest_head_sink *sink = context;
    sink->line(sink->context, bytes, size * count);
    return size * count;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes, (void)context;
    return size * count;
}

struct dlmtest_head dlmtest_receive_head(const void *bytes, size_t count, const struct dlmtest_head_sink *sink) {
    struct dlmtest_head head = {CURLE_FAILED_INIT, 0, -1};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    struct server server = {socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), bytes, count};
    if (bind(server.listener, (struct sockaddr *)&address, size) || listen(server.listener, 1) ||
        getsockname(server.listener, (struct sockaddr *)&address, &size))
        abort();
    pthread_t thread;
    CURL *easy = curl.next ? curl.init() : NULL;
    if (!easy || pthread_create(&thread, NULL, serve, &server)) abort();
    curl.set(easy, CURLOPT_URL, "http://127.0.0.1/file");
    curl.set(easy, CURLOPT_PORT, (long)ntohs(address.sin_port));
    curl.set(easy, CURLOPT_PROXY, "");
    curl.set(easy, CURLOPT_NOSIGNAL, 1L);
    curl.set(easy, CURLOPT_HEADERFUNCTION, take_line);
    curl.set(easy, CURLOPT_HEADERDATA, sink);
    curl.set(easy, CURLOPT_WRITEFUNCTION, take_body);
    head.result = curl.perform(easy);
    curl_off_t length = -1;
    curl.get(easy, CURLINFO_RESPONSE_CODE, &head.status);
    curl.get(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    head.length = length;
    for (struct curl_header *field = NULL; (field = curl.next(easy, CURLH_HEADER, -1, field));) {
        sink->field(sink->context, field->name, field->value);
    }
    curl.cleanup(easy);
    pthread_join(thread, NULL);
    close(server.listener);
    return head;
}
