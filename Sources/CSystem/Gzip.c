// zlib is loaded at its first use, because only the HTTP server compresses. libcurl depends on zlib, so both are
// installed together.
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <zlib.h>

#include "CSystem.h"

static struct {
    __typeof__(deflateInit2_) *begin;
    __typeof__(deflate) *run;
    __typeof__(deflateEnd) *end;
} library;
static int is_loaded;

static void load(void) {
    void *handle = dlopen("libz.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!handle) return;
    *(void **)&library.begin = dlsym(handle, "deflateInit2_");
    *(void **)&library.run = dlsym(handle, "deflate");
    *(void **)&library.end = dlsym(handle, "deflateEnd");
    is_loaded = library.begin && library.run && library.end;
}

struct dlm_gzip {
    z_stream stream;
};

dlm_gzip *dlm_gzip_new(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    dlm_gzip *gzip = is_loaded ? calloc(1, sizeof *gzip) : NULL;
    // A window of 15 bits, and 16 for the gzip format.
    if (gzip && library.begin(&gzip->stream, 4, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
                              (int)sizeof gzip->stream) != Z_OK) {
        free(gzip);
        return NULL;
    }
    return gzip;
}

void dlm_gzip_free(dlm_gzip *gzip) {
    if (!gzip) return;
    library.end(&gzip->stream);
    free(gzip);
}

void dlm_gzip_give(dlm_gzip *gzip, const void *bytes, size_t count) {
    gzip->stream.next_in = (Bytef *)(uintptr_t)bytes;
    gzip->stream.avail_in = (uInt)count;
}

size_t dlm_gzip_take(dlm_gzip *gzip, void *bytes, size_t room, int is_end) {
    gzip->stream.next_out = bytes;
    gzip->stream.avail_out = (uInt)room;
    library.run(&gzip->stream, is_end ? Z_FINISH : Z_NO_FLUSH);
    return room - gzip->stream.avail_out;
}
