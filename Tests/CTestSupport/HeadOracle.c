#include "HeadOracle.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <stdlib.h>

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

static size_t take_line(char *bytes, size_t size, size_t count, void *context) {
    const struct dlmtest_head_sink *sink = context;
    sink->line(sink->context, bytes, size * count);
    return size * count;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes, (void)context;
    return size * count;
}

struct dlmtest_head dlmtest_receive_head(const char *url, const struct dlmtest_head_sink *sink) {
    struct dlmtest_head head = {CURLE_FAILED_INIT, 0, -1};
    CURL *easy = curl.next ? curl.init() : NULL;
    if (!easy) abort();
    curl.set(easy, CURLOPT_URL, url);
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
    return head;
}
