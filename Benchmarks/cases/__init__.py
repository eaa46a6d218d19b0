"""The cases; the page has them in the order of these imports."""

from cases import large_files, slow_connections, small_files, start_up  # noqa: F401
