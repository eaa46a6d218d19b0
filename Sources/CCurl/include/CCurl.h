#ifndef DLM_CCURL_H
#define DLM_CCURL_H
#include <curl/curl.h>
#endif
