// Typed calls of libcurl. Swift cannot call variadic functions, so there is one setter for each C type. Options and
// constants that differ between versions of libcurl are used only in this module. Swift code uses only constants named
// CURLOPT_*, CURLINFO_*, CURLE_* and CURLM_*.
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
/// Returns the pointer that was set with CURLOPT_PRIVATE; NULL for a handle that libcurl made for itself.
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
/// Reports the events of a socket to libcurl. The flags are 1 for readable, 2 for writable and 4 for failed.
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
/// Returns the handle of the next finished transfer, and stores its result; NULL if no further transfer has finished.
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

enum dlm_http_version { DLM_HTTP_1_1, DLM_HTTP_2_OVER_TLS, DLM_HTTP_3 };

/// Loads libcurl at the first call. Returns NULL, or the reason why libcurl cannot be loaded. The other functions load
/// libcurl too. Except for `dlm_curl_prepare`, they end the process if libcurl cannot be loaded.
const char *dlm_curl_load(void);
/// The features of the loaded libcurl. A text is NULL if libcurl lacks the feature. The list of protocols ends with
/// NULL.
struct dlm_curl_features {
    const char *version, *tls, *zlib, *brotli, *zstd, *http2, *http3, *resolver, *ssh, *ca_file, *ca_folder;
    const char *const *protocols;
    int has_ipv6, has_async_dns, has_idn, has_psl, has_https_proxy;
};
struct dlm_curl_features dlm_curl_features(void);
/// Initialises libcurl at the first call, and returns the result of that call.
CURLcode dlm_curl_global_init(void);
/// Starts to load and initialise libcurl on a new thread. A call that needs libcurl earlier waits for that thread.
void dlm_curl_prepare(void);
/// Creates a share for handles of any thread. They share TLS sessions and the public suffix list and, if `shares_dns`
/// is not 0, the DNS cache. Returns NULL if there is no memory.
CURLSH *dlm_share_create(int shares_dns);
CURLcode dlm_set_http_version(CURL *easy, enum dlm_http_version version);
/// Returns the HTTP version of the last response: "1.0", "1.1", "2", "3", or "" if it is not known.
const char *dlm_http_version_used(CURL *easy);
/// Returns the handle's cookies in Netscape's format. The caller frees the list with curl_slist_free_all.
static inline struct curl_slist *dlm_get_cookies(CURL *easy) {
    struct curl_slist *list = NULL;
    return curl_easy_getinfo(easy, CURLINFO_COOKIELIST, &list) == CURLE_OK ? list : NULL;
}
/// Allows only the scheme `other` or, if `other` is NULL, http and https. libcurl before 7.85 allows all of FTP, FTPS,
/// SFTP and SCP if `other` is not NULL. A redirect may lead only to http and https.
CURLcode dlm_restrict_protocols(CURL *easy, const char *other);
/// Makes libcurl send the whole path of a file in one command, and open data connections only to the host of the
/// control connection. With `encryption` 0 there is no TLS; with 1, TLS is used if the server has it; with 2, TLS is
/// required.
CURLcode dlm_prepare_ftp(CURL *easy, int encryption);
CURLcode dlm_log_in(CURL *easy, const char *user, const char *password);
enum dlm_host_key { DLM_HOST_KEY_KNOWN, DLM_HOST_KEY_UNKNOWN, DLM_HOST_KEY_CHANGED };
/// Returns whether to continue with an SSH server that has this key. `bytes` is NULL if libcurl does not give the key.
typedef int (*dlm_host_key_callback)(void *context, enum dlm_host_key key, const char *bytes, size_t count);
/// Makes libcurl call `judge` with the key of each SSH server. `judge` must be the same function for all handles.
CURLcode dlm_check_host_key(CURL *easy, const char *known_hosts, dlm_host_key_callback judge, void *context);
/// Chooses how to log in to an SSH server: with the agent if `uses_agent`, with the private key in the file `key`
/// unless it is NULL, and with the password if `has_password`.
CURLcode dlm_use_ssh_authentication(CURL *easy, const char *key, int uses_agent, int has_password);
/// Requires TLS 1.2 or later, or TLS 1.3 or later with `only13`.
CURLcode dlm_require_modern_tls(CURL *easy, int only13);
enum dlm_authentication { DLM_BASIC, DLM_DIGEST, DLM_NTLM, DLM_NEGOTIATE, DLM_ANY_AUTHENTICATION };
/// Sets the authentication scheme, the user and the password. Returns CURLE_NOT_BUILT_IN if this libcurl lacks the
/// scheme.
CURLcode dlm_use_authentication(CURL *easy, enum dlm_authentication kind, const char *user, const char *password);
/// Sets the user and the password for the proxy, with the Basic scheme.
CURLcode dlm_use_proxy_authentication(CURL *easy, const char *user, const char *password);
/// Restricts connections to IPv4 (`family` is 4) or IPv6 (6).
CURLcode dlm_restrict_addresses(CURL *easy, int family);
/// Sends a copy of `bytes` as the body of the request, which becomes a POST.
CURLcode dlm_set_body(CURL *easy, const void *bytes, size_t count);
/// Trusts the authorities in the file, and in the folder of certificates named by hashes. If `file` is NULL, libcurl's
/// own file stays. If `folder` is NULL, no folder is used, because libcurl does not cache parsed certificates when it
/// has a folder. libcurl 8.17 and later keep their built-in folder then.
CURLcode dlm_trust_authorities(CURL *easy, const char *file, const char *folder);
/// Returns 1 if a connection to this numeric address and port is allowed, otherwise 0. Both are NULL if the address has
/// no text.
typedef int (*dlm_address_rule)(void *context, const char *host, const char *port);
/// Makes libcurl call `rule` before each attempt to connect, if `context` is not NULL. `rule` must be the same function
/// for all handles. A socket with a reserved descriptor is closed at once, and libcurl cannot connect.
CURLcode dlm_judge_addresses(CURL *easy, dlm_address_rule rule, void *context);
/// Reserves the descriptors from `first` on, for all handles.
void dlm_reserve_descriptors(int first);
/// Trusts the authorities in the file and no others.
CURLcode dlm_trust_only(CURL *easy, const char *file);
/// Returns the OpenSSL session of the transfer's connection; NULL if there is no connection, or libcurl uses another
/// TLS library.
void *dlm_openssl_session(CURL *easy);
/// Lets libcurl remove a transfer without waiting for the thread that resolves its host name (libcurl 7.87 or later).
CURLcode dlm_do_not_wait_for_resolver(CURL *easy);
/// Stores the whole URL in `text`. The caller frees the text with curl_free.
CURLUcode dlm_url_text(CURLU *url, char **text);
/// Returns whether the environment of the process has a variable whose name ends with `_proxy`, in upper or lower case.
/// libcurl reads only this environment.
int dlm_environment_has_proxy(void);
/// Returns `location` as an absolute URL, resolved against `base`; NULL if the result is not a URL. The caller frees
/// the text with curl_free.
char *dlm_resolve_url(const char *base, const char *location);

#endif
