"""The files that are downloaded: random bytes on the memory file system, and lists of their URLs."""

import hashlib
import os

SMALL = 16 * 1024


def digest(path):
    """Returns the SHA-256 digest of a file, in hexadecimal."""
    total = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:
        while piece := file.read(1 << 20):
            total.update(piece)
    return total.hexdigest()


class Content:
    """Creates files in the server's root folder when a case first asks for them."""

    def __init__(self, bench):
        self.root = bench.server.root
        self.server = bench.server
        self.folder = bench.make("lists")
        self._digests = {}

    def file(self, size):
        """Returns the name of a file of this size in bytes. `digest` returns the digest of the file."""
        name = f"b{size}"
        path = os.path.join(self.root, name)
        if not os.path.exists(path):
            with open(path, "wb") as file:
                for start in range(0, size, 1 << 24):
                    file.write(os.urandom(min(1 << 24, size - start)))
            self._digests[name] = digest(path)
        return name

    def digest(self, name):
        return self._digests[name]

    def sparse(self, size):
        """Returns the name of a sparse file of zeros, which takes no memory."""
        name = f"z{size}"
        path = os.path.join(self.root, name)
        if not os.path.exists(path):
            with open(path, "wb") as file:
                file.truncate(size)
        return name

    def small_files(self, count):
        """Returns the names of `count` files of 16 KiB, all with different content."""
        folder = f"s{count}"
        path = os.path.join(self.root, folder)
        if not os.path.exists(path):
            os.mkdir(path)
            stock = os.urandom(SMALL + count)
            for i in range(count):
                with open(os.path.join(path, f"f{i:06}"), "wb") as file:
                    file.write(stock[i:i + SMALL])
        return [f"{folder}/f{i:06}" for i in range(count)]

    def links(self, count, size):
        """Returns the names of `count` hard links to one file of this size in bytes."""
        folder = f"l{count}-{size}"
        path = os.path.join(self.root, folder)
        if not os.path.exists(path):
            one = os.path.join(self.root, self.file(size))
            os.mkdir(path)
            for i in range(count):
                os.link(one, os.path.join(path, f"f{i:06}"))
        return [f"{folder}/f{i:06}" for i in range(count)]

    def lists(self, names, scheme="http"):
        """Returns two files with the URLs: one with a URL a line, and one in the format of curl's option -K."""
        stem = os.path.join(self.folder, f"{len(names)}-{scheme}")
        urls = [self.server.url(name, scheme) for name in names]
        with open(stem + ".txt", "w") as plain, open(stem + ".curl", "w") as curl:
            plain.writelines(url + "\n" for url in urls)
            curl.writelines(f'url = "{url}"\n' for url in urls)
        return stem + ".txt", stem + ".curl"

    def differs(self, names, folder):
        """Returns what is wrong in `folder`, or None. The folder must have exactly these files, each with the right bytes."""
        found = os.listdir(folder)
        if len(found) != len(names):
            return f"{len(found)} files instead of {len(names)}"
        for name in names:
            try:
                with open(os.path.join(self.root, name), "rb") as a, \
                        open(os.path.join(folder, os.path.basename(name)), "rb") as b:
                    if a.read() != b.read():
                        return f"{name} differs"
            except FileNotFoundError:
                return f"{name} is missing"
        return None
