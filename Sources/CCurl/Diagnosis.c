// The features of libcurl for `dlm doctor`, and a callback that opens the sockets of libcurl
// and judges their addresses.
#define _GNU_SOURCE
#include "CCurl.h"

#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

struct dlm_curl_features dlm_curl_features(void) {
    const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
    struct dlm_curl_features features = {
        .version = info->version,
        .tls = info->ssl_version,
        .zlib = info->libz_version,
        .resolver = info->ares,
        .protocols = info->protocols,
        .has_ipv6 = (info->features & CURL_VERSION_IPV6) != 0,
        .has_async_dns = (info->features & CURL_VERSION_ASYNCHDNS) != 0,
        .has_idn = (info->features & CURL_VERSION_IDN) != 0,
        .has_psl = (info->features & CURL_VERSION_PSL) != 0,
        .has_https_proxy = (info->features & CURL_VERSION_HTTPS_PROXY) != 0,
    };
    // Newer versions of libcurl have more fields in the structure. `age` tells which fields exist.
    if (info->age >= CURLVERSION_FOURTH) features.ssh = info->libssh_version;
    if (info->age >= CURLVERSION_FIFTH) features.brotli = info->brotli_version;
    if (info->age >= CURLVERSION_SIXTH) {
        features.http2 = info->features & CURL_VERSION_HTTP2 ? info->nghttp2_version : NULL;
        features.http3 = info->quic_version;
    }
    if (info->age >= CURLVERSION_SEVENTH) {
        features.ca_file = info->cainfo;
        features.ca_folder = info->capath;
    }
    if (info->age >= CURLVERSION_EIGHTH) features.zstd = info->zstd_version;
    return features;
}

// The rule is global, because a handle has one context pointer for its callback, and the caller needs that pointer.
static _Atomic(dlm_address_rule) address_rule;
static _Atomic(int) first_reserved = INT_MAX;

void dlm_reserve_descriptors(int first) { first_reserved = first; }

static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)purpose;
    if (context != NULL) {
        char host[NI_MAXHOST], port[NI_MAXSERV];
        int is_known = getnameinfo(&address->addr, address->addrlen, host, sizeof host, port, sizeof port,
                                   NI_NUMERICHOST | NI_NUMERICSERV) == 0;
        if (!address_rule(context, is_known ? host : NULL, is_known ? port : NULL)) return CURL_SOCKET_BAD;
    }
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd < first_reserved) return fd;
    close(fd);
    errno = EMFILE;
    return CURL_SOCKET_BAD;
}

CURLcode dlm_judge_addresses(CURL *easy, dlm_address_rule rule, void *context) {
    address_rule = rule;
    CURLcode code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context);
    return code;
}
