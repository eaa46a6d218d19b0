// This header is empty: the library is loaded into dlm before the C library (LD_PRELOAD), and never linked.
