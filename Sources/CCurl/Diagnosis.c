// The features of libcurl for `dlm doctor`, and callbacks that see each address before libcurl connects to it.
#define _GNU_SOURCE
#include "CCurl.h"

#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>

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
        .has_unix_sockets = (info->features & CURL_VERSION_UNIX_SOCKETS) != 0,
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

// The callback is global, because a handle has one context pointer for its callback, and the caller needs that pointer.
static _Atomic(dlm_address_callback) tried_address;

static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)purpose;
    char host[NI_MAXHOST], port[NI_MAXSERV], text[NI_MAXHOST + NI_MAXSERV + 4];
    if (getnameinfo(&address->addr, address->addrlen, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0) {
        snprintf(text, sizeof text, address->family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
        tried_address(context, text);
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

CURLcode dlm_watch_addresses(CURL *easy, dlm_address_callback tried, void *context) {
    tried_address = tried;
    CURLcode code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context);
    return code;
}

static _Atomic(dlm_address_rule) permitted_address;

static curl_socket_t open_permitted_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)context;
    (void)purpose;
    char host[NI_MAXHOST];
    if (getnameinfo(&address->addr, address->addrlen, host, sizeof host, NULL, 0, NI_NUMERICHOST) != 0 ||
        !permitted_address(host))
        return CURL_SOCKET_BAD;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

CURLcode dlm_restrict_connections(CURL *easy, dlm_address_rule permits) {
    permitted_address = permits;
    CURLcode code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_permitted_socket);
    // A connection that is already open may have been made without the rule, so the transfer must not reuse it.
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    return code;
}
