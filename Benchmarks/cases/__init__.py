"""The cases. The page shows them in the order of these imports."""

from cases import (  # noqa: F401
    large_files, slow_connections, networks, small_files, many_downloads, start_up, control, rate_limits, records_and_digests,
    system_calls)
