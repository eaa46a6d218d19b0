// libcurl's own reading of the head of a response, to compare with the one of ResponseHeadParser.
#ifndef DLM_HEADORACLE_H
#define DLM_HEADORACLE_H

#include <stddef.h>

struct dlmtest_head_sink {
    void *context;
    /// Gets each header line, as CURLOPT_HEADERFUNCTION(3) gives it.
    void (*line)(void *context, const char *bytes, size_t count);
    /// Gets each field of the last response, in order, as curl_easy_nextheader(3) gives it.
    void (*field)(void *context, const char *name, const char *value);
};

struct dlmtest_head {
    /// The CURLcode of the transfer.
    int result;
    long status;
    /// The length of the body by the head, in bytes; -1 if it has none.
    long long length;
};

/// Lets libcurl fetch `url`.
struct dlmtest_head dlmtest_receive_head(const char *url, const struct dlmtest_head_sink *sink);

#endif
