extension ManualText {
    static let hooks = """
        The program of --on-complete runs when a download is complete, and the program of --on-error when a download \
        has failed for good. Neither runs if a download was paused or cancelled, or if nothing was fetched because \
        the file already existed. The dlm that ran the download starts the programs, at most four at a time. dlm get \
        waits for them; dlm wait does not. After a crash or a signal, programs that were not started yet are run by \
        the next dlm that downloads, or by the background session. A program that was started is never started again. \
        The program is looked up when dlm get is called. It runs without a shell and without arguments, in the folder \
        of the file. On standard input it gets the JSON of dlm get --json (event finished). Its output goes to \
        standard error, or to the log of the background session. After --hook-timeout, or when dlm is interrupted, \
        the program and its children get SIGTERM, and SIGKILL two seconds later. A failure of the program is \
        reported, but does not change the exit status. File names come from servers, so quote the variables in \
        scripts.
        """

    /// The variables that dlm adds to the environment of a hook.
    static let hookVariables = [
        ("DLM_ID", "The number of the download."),
        ("DLM_STATE", "completed or failed."),
        ("DLM_PATH", "The finished file; unset after a failure."),
        (
            "DLM_URL, DLM_EFFECTIVE_URL",
            "The requested URL, and the URL from which the file was fetched. Values that look like secrets are ***."
        ),
        ("DLM_BYTES", "The size of the file, or the number of fetched bytes."),
        ("DLM_CHECKSUM", "The verified checksum, as ALGORITHM:HEX; unset without a checksum."),
        (
            "DLM_ERROR, DLM_ERROR_KIND, DLM_ERROR_REASON, DLM_HTTP_STATUS",
            "Why the download failed: a sentence, the kind and reason as in --json, and the server's status code."
        ),
        ("DLM_EXIT_STATUS", "The exit status of dlm get for this download alone."),
    ]
}
