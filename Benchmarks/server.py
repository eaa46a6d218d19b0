"""The server of the benchmark: nginx with two workers on loopback, over http, https, https with HTTP/2, and HTTP/3 if it can."""

import os
import resource
import socket
import subprocess
import time

from workbench import Failed

CONFIGURATION = """
worker_processes 2; daemon off; pid nginx.pid; error_log error.log; {user}
worker_rlimit_nofile 16384;
events {{ worker_connections 8000; }}
http {{
    access_log off; sendfile on; default_type application/octet-stream;
    client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
    ssl_certificate certificate.pem; ssl_certificate_key key.pem; ssl_protocols TLSv1.3;
    server {{
        listen 127.0.0.1:{http}; listen 127.0.0.1:{https} ssl; listen 127.0.0.1:{http2} ssl http2; {quic}
        root {root};
        location /throttled/ {{ alias {root}/; limit_rate 8m; }}
        location /slow/ {{ alias {root}/; limit_rate 20k; }}
        location = /silent/SHA256SUMS {{ proxy_pass http://127.0.0.1:{silent}; }}
    }}
}}
"""


def free_ports(count):
    """Returns different free ports. Each port stays bound until all are found."""
    held = [socket.socket() for _ in range(count)]
    try:
        for s in held:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in held]
    finally:
        for s in held:
            s.close()


class Server:
    """Runs nginx until the workbench is closed."""

    def __init__(self, bench):
        self.folder = bench.make("nginx")
        self.root = bench.make("www")
        self.certificate = os.path.join(self.folder, "certificate.pem")
        self.ports = dict(zip(("http", "https", "http2"), free_ports(3)))
        self._make_certificate()
        path = os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin"
        built = subprocess.run(["nginx", "-V"], env={"PATH": path}, capture_output=True, text=True).stderr
        self.has_http3 = "http_v3_module" in built
        quic = f"listen 127.0.0.1:{self.ports['https']} quic reuseport;" if self.has_http3 else ""
        # The kernel accepts connections to this socket, and nobody answers.
        self.silent = socket.create_server(("127.0.0.1", 0))
        with open(os.path.join(self.folder, "nginx.conf"), "w") as file:
            user = "user root;" if os.getuid() == 0 else ""
            file.write(CONFIGURATION.format(user=user, root=self.root, quic=quic, silent=self.silent.getsockname()[1],
                                            **self.ports))
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65536), hard))
        command = ["nginx", "-p", self.folder, "-c", os.path.join(self.folder, "nginx.conf"), "-e", "error.log"]
        self.process = bench.spawn(command, env={"PATH": path}, stderr=subprocess.DEVNULL)
        self._wait()

    def url(self, path, scheme="http"):
        """Returns the URL of a file. `scheme` is http, https (HTTP/1.1, and HTTP/3 for who asks) or http2 (https, HTTP/2)."""
        return f"{'http' if scheme == 'http' else 'https'}://127.0.0.1:{self.ports[scheme]}/{path}"

    def cpu(self):
        """Returns the CPU time of the workers in seconds, or 0 if the kernel does not report it (`schedstat`, proc(5))."""
        total = 0
        try:
            with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
                for worker in file.read().split():
                    with open(f"/proc/{worker}/schedstat") as figures:
                        total += int(figures.read().split()[0])
        except OSError:
            return 0
        return total / 1e9

    def _make_certificate(self):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
             "-keyout", os.path.join(self.folder, "key.pem"), "-out", self.certificate],
            check=True, stderr=subprocess.DEVNULL)

    def _wait(self):
        for _ in range(500):
            try:
                socket.create_connection(("127.0.0.1", self.ports["http"]), 1).close()
                return
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.01)
        with open(os.path.join(self.folder, "error.log")) as log:
            raise Failed("nginx does not start: " + (log.read().strip().splitlines() or ["no message"])[-1])
