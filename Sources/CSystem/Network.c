#define _GNU_SOURCE
#include "CSystem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

int dlm_network_watch(void) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0) return -1;
    struct sockaddr_nl address = {0};
    address.nl_family = AF_NETLINK;
    address.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
    if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    int number = errno;
    close(fd);
    errno = number;
    return -1;
}

int dlm_network_changed(int fd) {
    char bytes[16384];
    int changed = 0;
    while (1) {
        ssize_t count = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
        // ENOBUFS means that the kernel had more messages than its buffer holds, and dropped some of them.
        if (count > 0 || (count < 0 && (errno == ENOBUFS || errno == EINTR))) {
            changed = 1;
            continue;
        }
        return changed;
    }
}

static int is_running(const char *name) {
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return 1;
    struct ifreq request = {0};
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    int failed = ioctl(fd, SIOCGIFFLAGS, &request);
    close(fd);
    return !failed && (request.ifr_flags & IFF_UP) && (request.ifr_flags & IFF_RUNNING);
}

// Stores an internet address as text. Returns -1 for other addresses.
static int write_address(const struct sockaddr *address, char text[DLM_ADDRESS_LENGTH]) {
    const void *bytes = address->sa_family == AF_INET    ? (const void *)&((struct sockaddr_in *)address)->sin_addr
                        : address->sa_family == AF_INET6 ? (const void *)&((struct sockaddr_in6 *)address)->sin6_addr
                                                         : NULL;
    if (bytes) return inet_ntop(address->sa_family, bytes, text, DLM_ADDRESS_LENGTH) ? 0 : -1;
    errno = EAFNOSUPPORT;
    return -1;
}

int dlm_usable_addresses(void (*found)(void *context, const char *address), void *context) {
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all) != 0) return -1;
    for (struct ifaddrs *one = all; one; one = one->ifa_next) {
        char text[DLM_ADDRESS_LENGTH];
        if (!one->ifa_addr || !(one->ifa_flags & IFF_UP) || !(one->ifa_flags & IFF_RUNNING)) continue;
        if (write_address(one->ifa_addr, text) == 0) found(context, text);
    }
    freeifaddrs(all);
    return 0;
}

int dlm_has_interface(const char *name) { return if_nametoindex(name) != 0; }

int dlm_local_address(int fd, char text[DLM_ADDRESS_LENGTH]) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &length) != 0) return -1;
    return write_address((struct sockaddr *)&address, text);
}

struct question {
    struct nlmsghdr header;
    struct rtmsg route;
    char attributes[64];
};

static void add(struct question *question, unsigned short type, const void *bytes, size_t count) {
    struct rtattr *attribute = (struct rtattr *)((char *)question + NLMSG_ALIGN(question->header.nlmsg_len));
    attribute->rta_type = type;
    attribute->rta_len = RTA_LENGTH(count);
    memcpy(RTA_DATA(attribute), bytes, count);
    question->header.nlmsg_len = NLMSG_ALIGN(question->header.nlmsg_len) + RTA_ALIGN(attribute->rta_len);
}

// Returns the index of the interface that the kernel would send over: 0 if there is no route, -1 if the kernel does
// not say.
static int interface_to(int family, const void *address, size_t length, const char *over, const char *from) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0) return -1;
    struct timeval limit = {.tv_sec = 1};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    struct question question = {0};
    question.header.nlmsg_len = NLMSG_LENGTH(sizeof question.route);
    question.header.nlmsg_type = RTM_GETROUTE;
    question.header.nlmsg_flags = NLM_F_REQUEST;
    question.route.rtm_family = (unsigned char)family;
    question.route.rtm_dst_len = (unsigned char)(length * 8);
    add(&question, RTA_DST, address, length);
    unsigned char source[16];
    if (from && inet_pton(family, from, source) == 1) {
        question.route.rtm_src_len = (unsigned char)(length * 8);
        add(&question, RTA_SRC, source, length);
    }
    if (over) {
        unsigned index = if_nametoindex(over);
        if (index == 0) {
            close(fd);
            return 0;
        }
        add(&question, RTA_OIF, &index, sizeof index);
    }
    int result = -1;
    char answer[8192];
    ssize_t count = send(fd, &question, question.header.nlmsg_len, 0);
    if (count > 0) count = recv(fd, answer, sizeof answer, 0);
    close(fd);
    struct nlmsghdr *header = (struct nlmsghdr *)answer;
    if (count <= 0 || !NLMSG_OK(header, (unsigned)count)) return -1;
    if (header->nlmsg_type == NLMSG_ERROR) {
        int number = -((struct nlmsgerr *)NLMSG_DATA(header))->error;
        return number == ENETUNREACH || number == EHOSTUNREACH || number == ENETDOWN || number == EACCES ||
                       number == EINVAL || number == ENODEV
                   ? 0
                   : -1;
    }
    if (header->nlmsg_type != RTM_NEWROUTE) return -1;
    struct rtmsg *route = NLMSG_DATA(header);
    if (route->rtm_type == RTN_UNREACHABLE || route->rtm_type == RTN_BLACKHOLE || route->rtm_type == RTN_PROHIBIT)
        return 0;
    unsigned length_left = RTM_PAYLOAD(header);
    for (struct rtattr *one = RTM_RTA(route); RTA_OK(one, length_left); one = RTA_NEXT(one, length_left))
        if (one->rta_type == RTA_OIF) result = *(int *)RTA_DATA(one);
    return result;
}

int dlm_has_route(const char *address, const char *over, const char *from) {
    unsigned char bytes[16];
    int family = inet_pton(AF_INET, address, bytes) == 1 ? AF_INET : inet_pton(AF_INET6, address, bytes) == 1 ? AF_INET6 : 0;
    if (!family) return -1;
    int index = interface_to(family, bytes, family == AF_INET ? 4 : 16, over, from);
    if (index <= 0) return index;
    char name[IF_NAMESIZE];
    return if_indextoname((unsigned)index, name) ? is_running(name) : 0;
}
