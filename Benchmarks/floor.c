// usage: floor ADDRESS PORT PATH FILE
// Measures the smallest cost of a download over http: one request, then recv and pwrite until the end, without checks.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char buffer[512 * 1024 + 1];

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static int request(const char *address, const char *port, const char *path) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(port))};
    if (inet_pton(AF_INET, address, &to.sin_addr) != 1) fail(address);
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (s < 0 || connect(s, (struct sockaddr *)&to, sizeof to) < 0) fail("connect");
    int n = snprintf(buffer, sizeof buffer, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", path, address);
    if (send(s, buffer, n, 0) != n) fail("send");
    return s;
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    int s = request(argv[1], argv[2], argv[3]);
    int file = open(argv[4], O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (file < 0) fail(argv[4]);
    size_t have = 0;
    char *body = NULL;
    while (!body && have < sizeof buffer - 1) {
        ssize_t n = recv(s, buffer + have, sizeof buffer - 1 - have, 0);
        if (n <= 0) fail("recv");
        have += n;
        buffer[have] = 0;
        body = strstr(buffer, "\r\n\r\n");
    }
    if (!body || strncmp(buffer, "HTTP/1.1 200", 12) != 0) return 1;
    body += 4;
    off_t offset = 0;
    for (size_t n = buffer + have - body;;) {
        if (pwrite(file, body, n, offset) != (ssize_t)n) fail("pwrite");
        offset += n;
        ssize_t next = recv(s, body = buffer, sizeof buffer - 1, 0);
        if (next < 0) fail("recv");
        if (next == 0) return close(file) == 0 ? 0 : 1;
        n = next;
    }
}
