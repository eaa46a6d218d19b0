// libcurl behind typed calls: one setter per C type instead of variadic functions, and a gate for every constant
// or option that differs between versions. Swift names CURLOPT_*, CURLINFO_*, CURLE_* and CURLM_* only.
#ifndef DLM_CCURL_H
#define DLM_CCURL_H

#include <curl/curl.h>

static inline CURLcode dlm_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode dlm_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode dlm_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode dlm_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode dlm_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode dlm_set_share(CURL *easy, CURLSH *share) {
    return curl_easy_setopt(easy, CURLOPT_SHARE, share);
}
/// For CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION.
static inline CURLcode dlm_set_data_callback(CURL *easy, CURLoption option, curl_write_callback callback) {
    return curl_easy_setopt(easy, option, callback);
}

static inline CURLcode dlm_set_progress_callback(CURL *easy, curl_xferinfo_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, callback);
}

static inline CURLcode dlm_set_debug_callback(CURL *easy, curl_debug_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, callback);
}
/// What was set as CURLOPT_PRIVATE; NULL for libcurl's own handles.
static inline void *dlm_get_private(CURL *easy) {
    char *value = NULL;
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value) == CURLE_OK ? value : NULL;
}

static inline CURLcode dlm_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode dlm_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode dlm_get_string(CURL *easy, CURLINFO info, const char **value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLMcode dlm_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode dlm_multi_set_callbacks(CURLM *multi, curl_socket_callback on_socket,
                                                curl_multi_timer_callback on_timer, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    if (code == CURLM_OK) code = curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
    if (code == CURLM_OK) code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
    if (code == CURLM_OK) code = curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
    return code;
}
/// Tells the multi handle what epoll reported; the flags are 1 readable, 2 writable, 4 failed.
static inline CURLMcode dlm_multi_socket(CURLM *multi, int socket, int flags) {
    int running, mask = 0;
    if (flags & 1) mask |= CURL_CSELECT_IN;
    if (flags & 2) mask |= CURL_CSELECT_OUT;
    if (flags & 4) mask |= CURL_CSELECT_ERR;
    return curl_multi_socket_action(multi, socket, mask, &running);
}
static inline CURLMcode dlm_multi_timeout(CURLM *multi) {
    int running;
    return curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
}
/// The next finished transfer: its handle and result, or NULL.
static inline CURL *dlm_multi_finished(CURLM *multi, CURLcode *result) {
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg == CURLMSG_DONE) {
            *result = message->data.result;
            return message->easy_handle;
        }
    }
    return NULL;
}

enum dlm_http_version { DLM_HTTP_1_1, DLM_HTTP_2_OVER_TLS };

/// Loads the library, once, and says why it cannot be; NULL when it is there. Everything else loads it too, but ends the
/// process where that fails.
const char *dlm_curl_load(void);
/// What the running library is: 0xXXYYZZ.
unsigned int dlm_curl_version(void);
const char *dlm_curl_description(void);
/// What the running library was built with; its lists end with NULL, and what it lacks is NULL.
struct dlm_curl_features {
    const char *version, *tls, *zlib, *brotli, *zstd, *http2, *http3, *resolver, *ssh, *ca_file, *ca_folder;
    const char *const *protocols;
    int has_ipv6, has_async_dns, has_idn, has_psl, has_unix_sockets, has_https_proxy;
};
struct dlm_curl_features dlm_curl_features(void);
/// Initialises the library, once.
CURLcode dlm_curl_global_init(void);
/// Begins to load and initialise it, on a thread of its own; whoever needs it before that is done waits.
void dlm_curl_prepare(void);
/// A share of DNS (unless a name server of their own is asked), TLS sessions and the public suffix list for handles of any thread; NULL without memory.
CURLSH *dlm_share_create(int shares_dns);
CURLcode dlm_set_http_version(CURL *easy, enum dlm_http_version version);
/// "1.0", "1.1", "2", "3" or "".
const char *dlm_http_version_used(CURL *easy);
/// The cookies that the handle knows, in Netscape's format, to be freed with curl_slist_free_all.
static inline struct curl_slist *dlm_get_cookies(CURL *easy) {
    struct curl_slist *list = NULL;
    return curl_easy_getinfo(easy, CURLINFO_COOKIELIST, &list) == CURLE_OK ? list : NULL;
}
/// http and https or, instead of them, the other scheme, by whatever option this libcurl has for it; no redirect leads
/// to another than http and https.
CURLcode dlm_restrict_protocols(CURL *easy, const char *other);
/// Whole paths, data connections to the host of the control connection; 1: encrypted where the server has it, 2: or not at all.
CURLcode dlm_prepare_ftp(CURL *easy, int encryption);
CURLcode dlm_log_in(CURL *easy, const char *user, const char *password);
enum dlm_host_key { DLM_HOST_KEY_KNOWN, DLM_HOST_KEY_UNKNOWN, DLM_HOST_KEY_CHANGED };
/// Whether to go on with a server that has this key; NULL where it cannot be told.
typedef int (*dlm_host_key_callback)(void *context, enum dlm_host_key key, const char *bytes, size_t count);
/// Has `judge`, one function for all handles, asked about the keys of SSH servers.
CURLcode dlm_check_host_key(CURL *easy, const char *known_hosts, dlm_host_key_callback judge, void *context);
/// By the agent, by the key in the file unless NULL, by the password if there is one.
CURLcode dlm_use_ssh_authentication(CURL *easy, const char *key, int uses_agent, int has_password);
/// TLS 1.2 or later; with `only13` 1.3 or later.
CURLcode dlm_require_modern_tls(CURL *easy, int only13);
enum dlm_authentication { DLM_BASIC, DLM_DIGEST, DLM_NTLM, DLM_NEGOTIATE, DLM_ANY_AUTHENTICATION };
/// CURLE_NOT_BUILT_IN where this libcurl cannot.
CURLcode dlm_use_authentication(CURL *easy, enum dlm_authentication kind, const char *user, const char *password);
/// To the proxy.
CURLcode dlm_use_proxy_authentication(CURL *easy, const char *user, const char *password);
/// 4 or 6; 0 for either.
CURLcode dlm_restrict_addresses(CURL *easy, int family);
/// Sends a copy of `bytes` as the body of the request, which becomes a POST.
CURLcode dlm_set_body(CURL *easy, const void *bytes, size_t count);
/// Trusts the authorities in the file (NULL: the library's own) and in the hashed folder; NULL: in none, where the
/// library's own defeats its cache of parsed certificates.
CURLcode dlm_trust_authorities(CURL *easy, const char *file, const char *folder);
typedef void (*dlm_address_callback)(void *context, const char *address);
/// Tells `tried`, one function for all handles, of every address that a connection is tried to, as `192.0.2.7:443`.
CURLcode dlm_watch_addresses(CURL *easy, dlm_address_callback tried, void *context);
/// Whether a connection to this numeric address may be made: 1, or 0.
typedef int (*dlm_address_rule)(const char *address);
/// Has the handle make connections of its own, to permitted addresses only.
CURLcode dlm_restrict_connections(CURL *easy, dlm_address_rule permits);
/// Trusts the authorities in the file and no others.
CURLcode dlm_trust_only(CURL *easy, const char *file);
/// The OpenSSL session of the connection that the transfer is on; NULL with another TLS library or no connection.
void *dlm_openssl_session(CURL *easy);
/// Does not wait for name resolution when a transfer is removed.
CURLcode dlm_do_not_wait_for_resolver(CURL *easy);
/// The whole URL, to be freed with curl_free.
CURLUcode dlm_url_text(CURLU *url, char **text);
/// `location` made absolute against `base`, to be freed with curl_free; NULL when it is no URL.
char *dlm_resolve_url(const char *base, const char *location);

#endif
