function __dlm_should_offer_completions_for_flags_or_options -a expected_commands
    set -l non_repeating_flags_or_options $argv[2..]
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __dlm_parse_tokens
    test "$commands" = "$expected_commands"; and return $non_repeating_flags_or_options_absent
end

function __dlm_should_offer_completions_for_positional -a expected_commands positional_index_comparison expected_positional_index
    set -l non_repeating_flags_or_options
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __dlm_parse_tokens
    test "$commands" = "$expected_commands" -a \( "$positional_index" "$positional_index_comparison" "$expected_positional_index" \)
end

function __dlm_parse_tokens -S
    set -l unparsed_tokens (__dlm_tokens -pc | string match -v -- --http1.1)
    switch $unparsed_tokens[1]
    case 'dlm'
        __dlm_parse_subcommand 0 'version' 'h/help'
        switch $unparsed_tokens[1]
        case 'get'
            __dlm_parse_subcommand -r 1 'i/input-file=' 'M/metalink-file=' 'b/background' 'ephemeral' 'spool=' 'unpack=' 'no-glob' 'help-all' 'j/max-concurrent=' 'max-per-host=' 'shard=' 'shard-by=' 'manifest=' 'manifest-digest' 'retry-failed' 'max-failures=' 'name-by=' 'per-host-rate=' 'spread' 'state=' 'store=' 'o/output=' 'd/directory=' 'if-exists=' 'c/continue' 'content-disposition' 'no-content-disposition' 'remote-time' 'no-remote-time' 'limit-rate=' 'retries=' 'retry-delay=' 'max-retry-after=' 'connect-timeout=' 'stall-timeout=' 'max-redirects=' 'priority=' 'retry-on=' 'max-time=' 'at=' 'window=+' 'wait=' 'paused' 'checksum=' 'checksum-file=' 'signed-by=+' 'verify=' 'expect-type=+' 'expect-status=' 'max-size=' 'A/user-agent=' 'e/referer=' 'query=+' 'compressed' 'X/method=' 'hsts' 'no-hsts' 'x/connections=' 'H/header=+' 'data=+' 'data-urlencode=+' 'u/user=' 'basic' 'digest' 'ntlm' 'negotiate' 'anyauth' 'aws-sigv4=' 'netrc' 'netrc-file=' 'bearer-file=' 'bearer-command=' 'cookie-file=' 'cookie-jar=' 'k/insecure' 'allow-unverified' 'allow-rollback' 'trust-on-first-use' 'ca-certificate=' 'crl-file=' 'certificate=' 'private-key=' 'pinned-public-key=' 'tls-min=' 'known-hosts=' 'ssh-key=' 'ssl' 'ssl-reqd' 'proto=' 'proxy=' 'no-proxy=' 'interface=' '4/ipv4' '6/ipv6' 'http2' 'http3' 'resolve=+' 'doh-url=' 'dns-cache-time=' 'mirror=+' 'metalink-location=' 'follow-metalink' 'no-follow-metalink' 'repair' 'on-complete=' 'on-error=' 'url-command=' 'on-complete-url=' 'on-complete-bearer-file=' 'notify' 'no-notify' 'hook-timeout=' 'progress=' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'list'
            __dlm_parse_subcommand 0 'state=+' 'limit=' 'all' 'store=' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'show'
            __dlm_parse_subcommand -r 1 'store=' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'pause'
            __dlm_parse_subcommand -r 1 'all' 'state=+' 'store=' 'host=' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'resume'
            __dlm_parse_subcommand -r 1 'all' 'state=+' 'b/background' 'x/connections=' 'H/header=+' 'data=+' 'data-urlencode=+' 'u/user=' 'basic' 'digest' 'ntlm' 'negotiate' 'anyauth' 'aws-sigv4=' 'netrc' 'netrc-file=' 'bearer-file=' 'bearer-command=' 'cookie-file=' 'cookie-jar=' 'k/insecure' 'allow-unverified' 'allow-rollback' 'trust-on-first-use' 'ca-certificate=' 'crl-file=' 'certificate=' 'private-key=' 'pinned-public-key=' 'tls-min=' 'known-hosts=' 'ssh-key=' 'ssl' 'ssl-reqd' 'proto=' 'proxy=' 'no-proxy=' 'interface=' '4/ipv4' '6/ipv6' 'http2' 'http3' 'resolve=+' 'doh-url=' 'dns-cache-time=' 'progress=' 'store=' 'host=' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'cancel'
            __dlm_parse_subcommand -r 1 'all' 'state=+' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'remove'
            __dlm_parse_subcommand -r 1 'all' 'state=+' 'delete-file' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'wait'
            __dlm_parse_subcommand -r 1 'all' 'state=+' 'any' 'timeout=' 'store=' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'watch'
            __dlm_parse_subcommand -r 1 'all' 'state=+' 'plain' 'progress=' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'events'
            __dlm_parse_subcommand 0 'since=' 'once' 'store=' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'limit'
            __dlm_parse_subcommand -r 2 'all' 'state=+' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'priority'
            __dlm_parse_subcommand -r 1 'all' 'state=+' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'set-url'
            __dlm_parse_subcommand 2 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'verify'
            __dlm_parse_subcommand -r 1 'checksum=' 'checksum-file=' 'signed-by=+' 'allow-rollback' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'work'
            __dlm_parse_subcommand 0 'store=' 'wait' 'workers-per-host=' 'lease-time=' 'd/directory=' 'manifest=' 'manifest-digest' 'retry-failed' 'max-failures=' 'state=' 'j/max-concurrent=' 'max-per-host=' 'progress=' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'manifest'
            __dlm_parse_subcommand 0 'version' 'h/help'
            switch $unparsed_tokens[1]
            case 'summary'
                __dlm_parse_subcommand -r 1 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
            case 'merge'
                __dlm_parse_subcommand -r 1 'version' 'h/help'
            case 'failed'
                __dlm_parse_subcommand -r 1 'host=' 'kind=' 'retryable' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
            end
        case 'daemon'
            __dlm_parse_subcommand 0 'version' 'h/help'
            switch $unparsed_tokens[1]
            case 'run'
                __dlm_parse_subcommand 0 'j/max-concurrent=' 'max-per-host=' 'limit-rate=' 'rpc' 'no-rpc' 'rpc-listen=' 'rpc-folders=+' 'rpc-hosts=+' 'rpc-origins=+' 'rpc-private-hosts' 'no-rpc-private-hosts' 'version' 'h/help'
            case 'start'
                __dlm_parse_subcommand 0 'j/max-concurrent=' 'max-per-host=' 'limit-rate=' 'rpc' 'no-rpc' 'rpc-listen=' 'rpc-folders=+' 'rpc-hosts=+' 'rpc-origins=+' 'rpc-private-hosts' 'no-rpc-private-hosts' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
            case 'stop'
                __dlm_parse_subcommand 0 'finish' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
            case 'status'
                __dlm_parse_subcommand 0 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
            end
        case 'rpc'
            __dlm_parse_subcommand 0 'version' 'h/help'
            switch $unparsed_tokens[1]
            case 'secret'
                __dlm_parse_subcommand 0 'metrics' 'version' 'h/help'
            case 'open'
                __dlm_parse_subcommand 0 'version' 'h/help'
            end
        case 'doctor'
            __dlm_parse_subcommand 1 'H/header=+' 'u/user=' 'basic' 'digest' 'ntlm' 'negotiate' 'anyauth' 'aws-sigv4=' 'netrc' 'netrc-file=' 'bearer-file=' 'bearer-command=' 'cookie-file=' 'cookie-jar=' 'k/insecure' 'allow-unverified' 'allow-rollback' 'trust-on-first-use' 'ca-certificate=' 'crl-file=' 'certificate=' 'private-key=' 'pinned-public-key=' 'tls-min=' 'known-hosts=' 'ssh-key=' 'ssl' 'ssl-reqd' 'proto=' 'proxy=' 'no-proxy=' 'interface=' '4/ipv4' '6/ipv6' 'http2' 'http3' 'resolve=+' 'doh-url=' 'dns-cache-time=' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'config'
            __dlm_parse_subcommand 1 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'help'
            __dlm_parse_subcommand -r 1 'version'
        end
    end
end

function __dlm_tokens
    if test (string split -m 1 -f 1 -- . "$FISH_VERSION") -gt 3
        commandline --tokens-raw $argv
    else
        commandline -o $argv
    end
end

function __dlm_parse_subcommand -S -a positional_count
    argparse -s r -- $argv
    set -l option_specs $argv[2..]
    set -l is_repeating_positional $_flag_r
    set -el _flag_r
    set -a commands $unparsed_tokens[1]
    set positional_index 0
    while true
        set -e unparsed_tokens[1]
        argparse -sn "$commands" $option_specs -- $unparsed_tokens 2> /dev/null
        set unparsed_tokens $argv
        set positional_index (math $positional_index + 1)
        for non_repeating_flag_or_option in $non_repeating_flags_or_options
            if set -ql "_flag_$(string replace -a - _ -- $non_repeating_flag_or_option)"
                set non_repeating_flags_or_options_absent 1
                break
            end
        end
        test (count $unparsed_tokens) -eq 0 -o \( -z "$is_repeating_positional" -a "$positional_index" -gt "$positional_count" \) && break
    end
end

function __dlm_complete_directories
    set -l token (commandline -t)
    string match -- '*/' $token
    set -l subdirs $token*/
    printf %s\n $subdirs
end

function __dlm_custom_completion
    set -x SAP_SHELL fish
    set -x SAP_SHELL_VERSION $FISH_VERSION
    set -l tokens (__dlm_tokens -p)
    if test -z "$(__dlm_tokens -t)"
        set -l index (count (__dlm_tokens -pc))
        set tokens $tokens[..$index] \'\' $tokens[(math $index + 1)..]
    end
    command $tokens[1] $argv $tokens
end

complete -c 'dlm' -f
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'get' -d 'Download files and print their paths'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'list' -d 'List the downloads that are not finished'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'show' -d 'Show everything about downloads'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'pause' -d 'Pause downloads, wherever they run'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'resume' -d 'Resume downloads that are paused, interrupted or failed'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'cancel' -d 'Cancel downloads, wherever they run'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'remove' -d 'Forget downloads and delete their partial files'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'wait' -d 'Wait until downloads are finished'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'watch' -d 'Show the progress of downloads, wherever they run'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'events' -d 'Print every change of every download, as lines of JSON'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'limit' -d 'Show or change the speed limit of sessions or of downloads'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'priority' -d 'Change the order in which downloads start'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'set-url' -d 'Continue a download from another URL'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'verify' -d 'Check finished files against their checksums'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'work' -d 'Download the URLs of a queue that many machines share'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'manifest' -d 'Summarize or merge manifests of dlm get'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'daemon' -d 'Start, stop, run or inspect the background session'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'rpc' -d 'Print the secret of the HTTP server, or open its web page'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'doctor' -d 'Find problems of this build and machine that hinder...'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'config' -d 'Show the current settings, and where each comes from'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'help' -d 'Show subcommand help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" i input-file' -l 'input-file' -s 'i' -d 'Also download the URLs in this file, one in each line' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" M metalink-file' -s 'M' -l 'metalink-file' -d 'Also download the files of this Metalink document' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" b background' -l 'background' -s 'b' -d 'Hand the downloads to the background session'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" ephemeral' -l 'ephemeral' -d 'Record nothing'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" spool' -l 'spool' -d 'Store at most this much of the file in $TMPDIR or /var/tmp' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" unpack' -l 'unpack' -d 'Unpack the archive' -rfa '(__dlm_complete_directories)'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" no-glob' -l 'no-glob' -d 'Read [ ] and { } in URLs as ordinary characters'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" help-all' -l 'help-all' -d 'Show all options, in groups'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" j max-concurrent' -s 'j' -l 'max-concurrent' -d 'Run at most N downloads at the same time, 1 to 1000' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" max-per-host' -l 'max-per-host' -d 'Run at most N downloads from one host, 1 to 1000' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" shard' -l 'shard' -d 'Download only part I of N of the list' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" shard-by' -l 'shard-by' -d 'Divide the list by host' -rfka 'host line url'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" manifest' -l 'manifest' -d 'Append a line of JSON to this file for each URL that ends' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" manifest-digest' -l 'manifest-digest' -d 'Record the SHA-256 digest of each file in the manifest'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" retry-failed' -l 'retry-failed' -d 'Also retry URLs that the manifest records as failed for...'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" max-failures' -l 'max-failures' -d 'Stop with status 69 after more than N failed downloads' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" name-by' -l 'name-by' -d 'Name files after the URL' -rfka 'url hash number'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" per-host-rate' -l 'per-host-rate' -d 'Start at most this many downloads per second from one host' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" spread' -l 'spread' -d 'Spread the files over two levels of folders'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" state' -l 'state' -d 'Keep the state of this worker in this folder instead of...' -rfa '(__dlm_complete_directories)'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" store' -l 'store' -d 'With -b' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" o output' -l 'output' -s 'o' -d 'Write to this file' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" d directory' -l 'directory' -s 'd' -d 'Put the files into this folder, which is created if missing' -rfa '(__dlm_complete_directories)'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" if-exists' -l 'if-exists' -d 'If the file already exists' -rfka 'fail overwrite rename skip newer'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" c continue' -l 'continue' -s 'c' -d 'Continue a file that another tool left unfinished under...'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" content-disposition' -l 'content-disposition' -d 'Use the file name that the server sends'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" no-content-disposition' -l 'no-content-disposition' -d 'Use the file name in the URL'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" remote-time' -l 'remote-time' -d 'Set the file\'s modification time to the time in...'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" no-remote-time' -l 'no-remote-time' -d 'Set the modification time to the time of the download'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" limit-rate' -l 'limit-rate' -d 'Limit each download to this many bytes per second' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" retries' -l 'retries' -d 'Retry at most N times' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" retry-delay' -l 'retry-delay' -d 'Wait this long before the first retry' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" max-retry-after' -l 'max-retry-after' -d 'Keep other downloads from the same server waiting for at...' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" connect-timeout' -l 'connect-timeout' -d 'Give up a connection attempt after this long' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" stall-timeout' -l 'stall-timeout' -d 'Cut a connection that receives no bytes for this long' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" max-redirects' -l 'max-redirects' -d 'Follow at most N redirects' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" priority' -l 'priority' -d 'Start before downloads with a lower number' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" retry-on' -l 'retry-on' -d 'Also retry after these status codes, such as 403 or 403' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" max-time' -l 'max-time' -d 'Give up a download after this time, which includes retries' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" at' -l 'at' -d 'Start at this time' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get"' -l 'window' -d 'Run only in this window of local time' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" wait' -l 'wait' -d 'Wait this long between the starts of two downloads from...' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" paused' -l 'paused' -d 'Add the download as paused'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" checksum' -l 'checksum' -d 'Require the file to have this digest, such as sha256:HEX' -rfka 'md5: sha1: sha224: sha256: sha384: sha512:'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" checksum-file' -l 'checksum-file' -d 'Look up the digest by file name in this list' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get"' -l 'signed-by' -d 'Require a signature by this key' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" verify' -l 'verify' -d 'Choose the digests that a file must match if you give no...' -rfka 'off headers auto require'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get"' -l 'expect-type' -d 'Accept only this media type' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" expect-status' -l 'expect-status' -d 'Accept only these status codes, such as 200,203' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" max-size' -l 'max-size' -d 'Refuse a file larger than this, such as 500M' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" A user-agent' -s 'A' -l 'user-agent' -d 'Send this as User-Agent' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" e referer' -s 'e' -l 'referer' -d 'Send this as Referer' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get"' -l 'query' -d 'Percent-encode this parameter and add it to the query of...' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" compressed' -l 'compressed' -d 'Accept compressed content'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" X method' -s 'X' -l 'method' -d 'Use this method instead of GET' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" hsts' -l 'hsts' -d 'Remember hosts that require https'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" no-hsts' -l 'no-hsts' -d 'Use the scheme of the URL'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" connections x' -s 'x' -l 'connections' -d 'Use N connections for each file, 1 to 64' -rfka 'auto 1 2 4 8 16'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get"' -s 'H' -l 'header' -d 'Send this header field, \'Name' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get"' -l 'data' -d 'Send this form data by POST' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get"' -l 'data-urlencode' -d 'Send this form data percent-encoded' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" u user' -l 'user' -s 'u' -d 'Log in with this name and password' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" basic' -l 'basic' -d 'Send name and password with the first request'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" digest' -l 'digest' -d 'Log in with Digest authentication'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" ntlm' -l 'ntlm' -d 'Log in with NTLM authentication'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" negotiate' -l 'negotiate' -d 'Log in with Negotiate'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" anyauth' -l 'anyauth' -d 'Log in with the strongest method that the server offers'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" aws-sigv4' -l 'aws-sigv4' -d 'Sign each request with AWS Signature Version 4' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" netrc' -l 'netrc' -d 'Look up names and passwords by host in ~/.netrc'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" netrc-file' -l 'netrc-file' -d 'Look up names and passwords by host in this file' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" bearer-file' -l 'bearer-file' -d 'Send the token from this file' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" bearer-command' -l 'bearer-command' -d 'Run this program without arguments at each attempt' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" cookie-file' -l 'cookie-file' -d 'Send the cookies from this file' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" cookie-jar' -l 'cookie-jar' -d 'Save all cookies to this file when a download ends' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" insecure k' -s 'k' -l 'insecure' -d 'Do not verify the server\'s certificate'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" allow-unverified' -l 'allow-unverified' -d 'Accept a body without a size as complete when its...'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" allow-rollback' -l 'allow-rollback' -d 'With --signed-by'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" trust-on-first-use' -l 'trust-on-first-use' -d 'Record which key of --signed-by makes the first good...'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" ca-certificate' -l 'ca-certificate' -d 'Trust only the certificate authorities in this file' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" crl-file' -l 'crl-file' -d 'Refuse certificates that this file' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" certificate' -l 'certificate' -d 'Present this client certificate' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" private-key' -l 'private-key' -d 'Use this key for --certificate if the key is in a...' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" pinned-public-key' -l 'pinned-public-key' -d 'Accept only a server with this public key' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" tls-min' -l 'tls-min' -d 'Accept this version of TLS and newer ones' -rfka '1.2 1.3'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" known-hosts' -l 'known-hosts' -d 'Check the keys of SSH servers against this file' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" ssh-key' -l 'ssh-key' -d 'Log in over SSH' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" ssl' -l 'ssl' -d 'Encrypt ftp with TLS if the server supports it'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" ssl-reqd' -l 'ssl-reqd' -d 'Encrypt ftp with TLS'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" proto' -l 'proto' -d 'Allow only these schemes, also after redirects' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" proxy' -l 'proxy' -d 'Use this proxy instead of the one in the environment' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" no-proxy' -l 'no-proxy' -d 'Use no proxy for these hosts, separated by commas' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" interface' -l 'interface' -d 'Send from this network interface or local address' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" 4 ipv4' -s '4' -l 'ipv4' -d 'Use only IPv4'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" 6 ipv6' -s '6' -l 'ipv6' -d 'Use only IPv6'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" http1.1' -l 'http1.1' -d 'Use only HTTP/1.1'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" http2' -l 'http2' -d 'Use HTTP/2 over https if the server supports it'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" http3' -l 'http3' -d 'Use HTTP/3 over https if the server supports it'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get"' -l 'resolve' -d 'Connect to this address instead of looking up the host' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" doh-url' -l 'doh-url' -d 'Look up addresses at this server' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" dns-cache-time' -l 'dns-cache-time' -d 'Cache addresses for this long, and failed lookups for 1 s' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get"' -l 'mirror' -d 'Add another source of the same file' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" metalink-location' -l 'metalink-location' -d 'Prefer the sources in this country, such as de or us' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" follow-metalink' -l 'follow-metalink' -d 'If the server sends a Metalink document'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" no-follow-metalink' -l 'no-follow-metalink' -d 'Download a Metalink document as a file'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" repair' -l 'repair' -d 'Check the existing file, finished or not'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" on-complete' -l 'on-complete' -d 'When a download is complete, run this program' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" on-error' -l 'on-error' -d 'When a download has failed for good' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" url-command' -l 'url-command' -d 'For links that expire' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" on-complete-url' -l 'on-complete-url' -d 'When a download is complete' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" on-complete-bearer-file' -l 'on-complete-bearer-file' -d 'Send the token from this file' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" notify' -l 'notify' -d 'Notify on the desktop'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" no-notify' -l 'no-notify' -d 'Send no notifications, and do not ring the bell'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" hook-timeout' -l 'hook-timeout' -d 'End a hook that runs longer than this' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" progress' -l 'progress' -d 'Show progress on stderr' -rfka 'auto bar plain json none'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" json' -l 'json' -d 'Write JSON to stdout, one value in each line'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" q quiet' -l 'quiet' -s 'q' -d 'Print no notices, progress or paths'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get"' -l 'verbose' -s 'v' -d 'Print more details on stderr'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" color' -l 'color' -d 'Colour the output' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list"' -l 'state' -d 'List only downloads in this state' -rfka 'queued running waiting paused completed failed cancelled'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list" limit' -l 'limit' -d 'List only the newest N downloads' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list" all' -l 'all' -d 'List completed and cancelled downloads, too'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list" store' -l 'store' -d 'Use the shared queue in this PostgreSQL database instead...' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list" json' -l 'json' -d 'Write JSON to stdout, one value in each line'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list" q quiet' -l 'quiet' -s 'q' -d 'Print no notices, progress or paths'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list"' -l 'verbose' -s 'v' -d 'Print more details on stderr'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list" color' -l 'color' -d 'Colour the output' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm show" -ge 1' -fka '(__dlm_custom_completion ---completion show -- positional@0 (count (__dlm_tokens -pc)) (__dlm_tokens -tC))'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm show" store' -l 'store' -d 'Use the shared queue in this PostgreSQL database instead...' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm show" json' -l 'json' -d 'Write JSON to stdout, one value in each line'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm show" q quiet' -l 'quiet' -s 'q' -d 'Print no notices, progress or paths'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm show"' -l 'verbose' -s 'v' -d 'Print more details on stderr'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm show" color' -l 'color' -d 'Colour the output' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm show" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm show" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm pause" -ge 1' -fka '(__dlm_custom_completion ---completion pause -- positional@0 (count (__dlm_tokens -pc)) (__dlm_tokens -tC))'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm pause" all' -l 'all' -d 'Select all downloads that this command can change or follow'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm pause"' -l 'state' -d 'Select all downloads in this state' -rfka 'queued running waiting paused completed failed cancelled'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm pause" store' -l 'store' -d 'Use the shared queue in this PostgreSQL database instead...' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm pause" host' -l 'host' -d 'With --store' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm pause" json' -l 'json' -d 'Write JSON to stdout, one value in each line'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm pause" q quiet' -l 'quiet' -s 'q' -d 'Print no notices, progress or paths'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm pause"' -l 'verbose' -s 'v' -d 'Print more details on stderr'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm pause" color' -l 'color' -d 'Colour the output' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm pause" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm pause" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm resume" -ge 1' -fka '(__dlm_custom_completion ---completion resume -- positional@0 (count (__dlm_tokens -pc)) (__dlm_tokens -tC))'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" all' -l 'all' -d 'Select all downloads that this command can change or follow'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume"' -l 'state' -d 'Select all downloads in this state' -rfka 'queued running waiting paused completed failed cancelled'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" b background' -l 'background' -s 'b' -d 'Continue in the background session, and return at once'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" connections x' -s 'x' -l 'connections' -d 'Use N connections for each file, 1 to 64' -rfka 'auto 1 2 4 8 16'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume"' -s 'H' -l 'header' -d 'Send this header field, \'Name' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume"' -l 'data' -d 'Send this form data by POST' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume"' -l 'data-urlencode' -d 'Send this form data percent-encoded' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" u user' -l 'user' -s 'u' -d 'Log in with this name and password' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" basic' -l 'basic' -d 'Send name and password with the first request'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" digest' -l 'digest' -d 'Log in with Digest authentication'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" ntlm' -l 'ntlm' -d 'Log in with NTLM authentication'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" negotiate' -l 'negotiate' -d 'Log in with Negotiate'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" anyauth' -l 'anyauth' -d 'Log in with the strongest method that the server offers'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" aws-sigv4' -l 'aws-sigv4' -d 'Sign each request with AWS Signature Version 4' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" netrc' -l 'netrc' -d 'Look up names and passwords by host in ~/.netrc'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" netrc-file' -l 'netrc-file' -d 'Look up names and passwords by host in this file' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" bearer-file' -l 'bearer-file' -d 'Send the token from this file' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" bearer-command' -l 'bearer-command' -d 'Run this program without arguments at each attempt' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" cookie-file' -l 'cookie-file' -d 'Send the cookies from this file' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" cookie-jar' -l 'cookie-jar' -d 'Save all cookies to this file when a download ends' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" insecure k' -s 'k' -l 'insecure' -d 'Do not verify the server\'s certificate'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" allow-unverified' -l 'allow-unverified' -d 'Accept a body without a size as complete when its...'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" allow-rollback' -l 'allow-rollback' -d 'With --signed-by'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" trust-on-first-use' -l 'trust-on-first-use' -d 'Record which key of --signed-by makes the first good...'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" ca-certificate' -l 'ca-certificate' -d 'Trust only the certificate authorities in this file' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" crl-file' -l 'crl-file' -d 'Refuse certificates that this file' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" certificate' -l 'certificate' -d 'Present this client certificate' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" private-key' -l 'private-key' -d 'Use this key for --certificate if the key is in a...' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" pinned-public-key' -l 'pinned-public-key' -d 'Accept only a server with this public key' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" tls-min' -l 'tls-min' -d 'Accept this version of TLS and newer ones' -rfka '1.2 1.3'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" known-hosts' -l 'known-hosts' -d 'Check the keys of SSH servers against this file' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" ssh-key' -l 'ssh-key' -d 'Log in over SSH' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" ssl' -l 'ssl' -d 'Encrypt ftp with TLS if the server supports it'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" ssl-reqd' -l 'ssl-reqd' -d 'Encrypt ftp with TLS'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" proto' -l 'proto' -d 'Allow only these schemes, also after redirects' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" proxy' -l 'proxy' -d 'Use this proxy instead of the one in the environment' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" no-proxy' -l 'no-proxy' -d 'Use no proxy for these hosts, separated by commas' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" interface' -l 'interface' -d 'Send from this network interface or local address' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" 4 ipv4' -s '4' -l 'ipv4' -d 'Use only IPv4'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" 6 ipv6' -s '6' -l 'ipv6' -d 'Use only IPv6'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" http1.1' -l 'http1.1' -d 'Use only HTTP/1.1'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" http2' -l 'http2' -d 'Use HTTP/2 over https if the server supports it'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" http3' -l 'http3' -d 'Use HTTP/3 over https if the server supports it'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume"' -l 'resolve' -d 'Connect to this address instead of looking up the host' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" doh-url' -l 'doh-url' -d 'Look up addresses at this server' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" dns-cache-time' -l 'dns-cache-time' -d 'Cache addresses for this long, and failed lookups for 1 s' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" progress' -l 'progress' -d 'Show progress on stderr' -rfka 'auto bar plain json none'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" store' -l 'store' -d 'Use the shared queue in this PostgreSQL database instead...' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" host' -l 'host' -d 'With --store' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" json' -l 'json' -d 'Write JSON to stdout, one value in each line'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" q quiet' -l 'quiet' -s 'q' -d 'Print no notices, progress or paths'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume"' -l 'verbose' -s 'v' -d 'Print more details on stderr'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" color' -l 'color' -d 'Colour the output' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm cancel" -ge 1' -fka '(__dlm_custom_completion ---completion cancel -- positional@0 (count (__dlm_tokens -pc)) (__dlm_tokens -tC))'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm cancel" all' -l 'all' -d 'Select all downloads that this command can change or follow'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm cancel"' -l 'state' -d 'Select all downloads in this state' -rfka 'queued running waiting paused completed failed cancelled'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm cancel" json' -l 'json' -d 'Write JSON to stdout, one value in each line'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm cancel" q quiet' -l 'quiet' -s 'q' -d 'Print no notices, progress or paths'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm cancel"' -l 'verbose' -s 'v' -d 'Print more details on stderr'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm cancel" color' -l 'color' -d 'Colour the output' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm cancel" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm cancel" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm remove" -ge 1' -fka '(__dlm_custom_completion ---completion remove -- positional@0 (count (__dlm_tokens -pc)) (__dlm_tokens -tC))'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm remove" all' -l 'all' -d 'Select all downloads that this command can change or follow'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm remove"' -l 'state' -d 'Select all downloads in this state' -rfka 'queued running waiting paused completed failed cancelled'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm remove" delete-file' -l 'delete-file' -d 'Also delete the finished files'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm remove" json' -l 'json' -d 'Write JSON to stdout, one value in each line'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm remove" q quiet' -l 'quiet' -s 'q' -d 'Print no notices, progress or paths'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm remove"' -l 'verbose' -s 'v' -d 'Print more details on stderr'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm remove" color' -l 'color' -d 'Colour the output' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm remove" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm remove" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm wait" -ge 1' -fka '(__dlm_custom_completion ---completion wait -- positional@0 (count (__dlm_tokens -pc)) (__dlm_tokens -tC))'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm wait" all' -l 'all' -d 'Select all downloads that this command can change or follow'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm wait"' -l 'state' -d 'Select all downloads in this state' -rfka 'queued running waiting paused completed failed cancelled'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm wait" any' -l 'any' -d 'End when the first of the downloads is finished'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm wait" timeout' -l 'timeout' -d 'Give up after this time, with status 1' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm wait" store' -l 'store' -d 'Use the shared queue in this PostgreSQL database instead...' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm wait" json' -l 'json' -d 'Write JSON to stdout, one value in each line'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm wait" q quiet' -l 'quiet' -s 'q' -d 'Print no notices, progress or paths'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm wait"' -l 'verbose' -s 'v' -d 'Print more details on stderr'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm wait" color' -l 'color' -d 'Colour the output' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm wait" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm wait" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm watch" -ge 1' -fka '(__dlm_custom_completion ---completion watch -- positional@0 (count (__dlm_tokens -pc)) (__dlm_tokens -tC))'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm watch" all' -l 'all' -d 'Select all downloads that this command can change or follow'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm watch"' -l 'state' -d 'Select all downloads in this state' -rfka 'queued running waiting paused completed failed cancelled'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm watch" plain' -l 'plain' -d 'Show only the progress, without the list and its keys'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm watch" progress' -l 'progress' -d 'Show progress on stderr' -rfka 'auto bar plain json none'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm watch" json' -l 'json' -d 'Write JSON to stdout, one value in each line'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm watch" q quiet' -l 'quiet' -s 'q' -d 'Print no notices, progress or paths'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm watch"' -l 'verbose' -s 'v' -d 'Print more details on stderr'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm watch" color' -l 'color' -d 'Colour the output' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm watch" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm watch" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm events" since' -l 'since' -d 'Start with the events after this cursor' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm events" once' -l 'once' -d 'End after the events that have already happened'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm events" store' -l 'store' -d 'Use the shared queue in this PostgreSQL database instead...' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm events" json' -l 'json' -d 'Write JSON to stdout, one value in each line'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm events" q quiet' -l 'quiet' -s 'q' -d 'Print no notices, progress or paths'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm events"' -l 'verbose' -s 'v' -d 'Print more details on stderr'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm events" color' -l 'color' -d 'Colour the output' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm events" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm events" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm limit" -eq 1' -fka 'none 500k 1M 10M'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm limit" -ge 2' -fka '(__dlm_custom_completion ---completion limit -- positional@1 (count (__dlm_tokens -pc)) (__dlm_tokens -tC))'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm limit" all' -l 'all' -d 'Select all downloads that this command can change or follow'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm limit"' -l 'state' -d 'Select all downloads in this state' -rfka 'queued running waiting paused completed failed cancelled'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm limit" json' -l 'json' -d 'Write JSON to stdout, one value in each line'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm limit" q quiet' -l 'quiet' -s 'q' -d 'Print no notices, progress or paths'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm limit"' -l 'verbose' -s 'v' -d 'Print more details on stderr'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm limit" color' -l 'color' -d 'Colour the output' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm limit" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm limit" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm priority" -ge 1' -fka '(__dlm_custom_completion ---completion priority -- positional@0 (count (__dlm_tokens -pc)) (__dlm_tokens -tC))'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm priority" all' -l 'all' -d 'Select all downloads that this command can change or follow'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm priority"' -l 'state' -d 'Select all downloads in this state' -rfka 'queued running waiting paused completed failed cancelled'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm priority" json' -l 'json' -d 'Write JSON to stdout, one value in each line'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm priority" q quiet' -l 'quiet' -s 'q' -d 'Print no notices, progress or paths'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm priority"' -l 'verbose' -s 'v' -d 'Print more details on stderr'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm priority" color' -l 'color' -d 'Colour the output' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm priority" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm priority" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm set-url" -eq 1' -fka '(__dlm_custom_completion ---completion set-url -- positional@0 (count (__dlm_tokens -pc)) (__dlm_tokens -tC))'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm set-url" json' -l 'json' -d 'Write JSON to stdout, one value in each line'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm set-url" q quiet' -l 'quiet' -s 'q' -d 'Print no notices, progress or paths'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm set-url"' -l 'verbose' -s 'v' -d 'Print more details on stderr'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm set-url" color' -l 'color' -d 'Colour the output' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm set-url" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm set-url" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm verify" -ge 1' -F
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm verify" checksum' -l 'checksum' -d 'Require the file to have this digest, such as sha256:HEX' -rfka 'md5: sha1: sha224: sha256: sha384: sha512:'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm verify" checksum-file' -l 'checksum-file' -d 'Look up the digest by file name in this list' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm verify"' -l 'signed-by' -d 'Require a signature by this key' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm verify" allow-rollback' -l 'allow-rollback' -d 'With --signed-by'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm verify" json' -l 'json' -d 'Write JSON to stdout, one value in each line'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm verify" q quiet' -l 'quiet' -s 'q' -d 'Print no notices, progress or paths'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm verify"' -l 'verbose' -s 'v' -d 'Print more details on stderr'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm verify" color' -l 'color' -d 'Colour the output' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm verify" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm verify" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm work" store' -l 'store' -d 'The queue' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm work" wait' -l 'wait' -d 'Stay when the queue is empty, and wait for more URLs'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm work" workers-per-host' -l 'workers-per-host' -d 'Let at most N workers, on all machines together' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm work" lease-time' -l 'lease-time' -d 'Give the URLs of this worker to others if the database...' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm work" d directory' -l 'directory' -s 'd' -d 'Put the files below this folder instead of the folder of...' -rfa '(__dlm_complete_directories)'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm work" manifest' -l 'manifest' -d 'Append a line of JSON to this file for each URL that ends' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm work" manifest-digest' -l 'manifest-digest' -d 'Record the SHA-256 digest of each file in the manifest'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm work" retry-failed' -l 'retry-failed' -d 'Put URLs that failed for good back into the queue first'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm work" max-failures' -l 'max-failures' -d 'Stop with status 69 after more than N failed downloads' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm work" state' -l 'state' -d 'Keep the state of this worker in this folder instead of...' -rfa '(__dlm_complete_directories)'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm work" j max-concurrent' -s 'j' -l 'max-concurrent' -d 'Run at most N downloads at the same time, 1 to 1000' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm work" max-per-host' -l 'max-per-host' -d 'Run at most N downloads from one host, 1 to 1000' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm work" progress' -l 'progress' -d 'Show progress on stderr' -rfka 'auto bar plain json none'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm work" json' -l 'json' -d 'Write JSON to stdout, one value in each line'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm work" q quiet' -l 'quiet' -s 'q' -d 'Print no notices, progress or paths'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm work"' -l 'verbose' -s 'v' -d 'Print more details on stderr'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm work" color' -l 'color' -d 'Colour the output' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm work" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm work" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm manifest" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm manifest" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm manifest" -eq 1' -fa 'summary' -d 'Count done and failed URLs, by kind of error and by host'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm manifest" -eq 1' -fa 'merge' -d 'Print one line of JSON for each URL'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm manifest" -eq 1' -fa 'failed' -d 'Print the failed URLs, by host and kind of error'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm manifest summary" -ge 1' -F
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm manifest summary" json' -l 'json' -d 'Write JSON to stdout, one value in each line'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm manifest summary" q quiet' -l 'quiet' -s 'q' -d 'Print no notices, progress or paths'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm manifest summary"' -l 'verbose' -s 'v' -d 'Print more details on stderr'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm manifest summary" color' -l 'color' -d 'Colour the output' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm manifest summary" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm manifest summary" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm manifest merge" -ge 1' -F
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm manifest merge" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm manifest merge" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm manifest failed" -ge 1' -F
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm manifest failed" host' -l 'host' -d 'Print only URLs of this host' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm manifest failed" kind' -l 'kind' -d 'Print only URLs with this kind of error, such as network' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm manifest failed" retryable' -l 'retryable' -d 'Print only URLs that may succeed in another run'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm manifest failed" json' -l 'json' -d 'Write JSON to stdout, one value in each line'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm manifest failed" q quiet' -l 'quiet' -s 'q' -d 'Print no notices, progress or paths'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm manifest failed"' -l 'verbose' -s 'v' -d 'Print more details on stderr'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm manifest failed" color' -l 'color' -d 'Colour the output' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm manifest failed" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm manifest failed" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm daemon" -eq 1' -fa 'run' -d 'Run the background session in the foreground'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm daemon" -eq 1' -fa 'start' -d 'Start the background session, and return when it is ready'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm daemon" -eq 1' -fa 'stop' -d 'Stop the background session, and return when it has ended'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm daemon" -eq 1' -fa 'status' -d 'Show the state of the background session'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon run" j max-concurrent' -s 'j' -l 'max-concurrent' -d 'Run at most N downloads at the same time, 1 to 1000' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon run" max-per-host' -l 'max-per-host' -d 'Run at most N downloads from one host, 1 to 1000' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon run" limit-rate' -l 'limit-rate' -d 'Limit all downloads together to this many bytes per second' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon run" rpc' -l 'rpc' -d 'Serve aria2\'s RPC, a web page and dlm\'s own API over HTTP'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon run" no-rpc' -l 'no-rpc' -d 'Serve nothing over HTTP'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon run" rpc-listen' -l 'rpc-listen' -d 'Serve at this numeric address and port' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon run"' -l 'rpc-folders' -d 'Let network clients save files in this folder and its...' -rfa '(__dlm_complete_directories)'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon run"' -l 'rpc-hosts' -d 'Also answer requests with this host name' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon run"' -l 'rpc-origins' -d 'Also answer web pages of this origin' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon run" rpc-private-hosts' -l 'rpc-private-hosts' -d 'Let network clients download from any host'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon run" no-rpc-private-hosts' -l 'no-rpc-private-hosts' -d 'Refuse downloads from this machine'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon run" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon run" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon start" j max-concurrent' -s 'j' -l 'max-concurrent' -d 'Run at most N downloads at the same time, 1 to 1000' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon start" max-per-host' -l 'max-per-host' -d 'Run at most N downloads from one host, 1 to 1000' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon start" limit-rate' -l 'limit-rate' -d 'Limit all downloads together to this many bytes per second' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon start" rpc' -l 'rpc' -d 'Serve aria2\'s RPC, a web page and dlm\'s own API over HTTP'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon start" no-rpc' -l 'no-rpc' -d 'Serve nothing over HTTP'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon start" rpc-listen' -l 'rpc-listen' -d 'Serve at this numeric address and port' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon start"' -l 'rpc-folders' -d 'Let network clients save files in this folder and its...' -rfa '(__dlm_complete_directories)'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon start"' -l 'rpc-hosts' -d 'Also answer requests with this host name' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon start"' -l 'rpc-origins' -d 'Also answer web pages of this origin' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon start" rpc-private-hosts' -l 'rpc-private-hosts' -d 'Let network clients download from any host'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon start" no-rpc-private-hosts' -l 'no-rpc-private-hosts' -d 'Refuse downloads from this machine'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon start" json' -l 'json' -d 'Write JSON to stdout, one value in each line'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon start" q quiet' -l 'quiet' -s 'q' -d 'Print no notices, progress or paths'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon start"' -l 'verbose' -s 'v' -d 'Print more details on stderr'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon start" color' -l 'color' -d 'Colour the output' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon start" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon start" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon stop" finish' -l 'finish' -d 'Let running downloads finish first, however long that takes'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon stop" json' -l 'json' -d 'Write JSON to stdout, one value in each line'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon stop" q quiet' -l 'quiet' -s 'q' -d 'Print no notices, progress or paths'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon stop"' -l 'verbose' -s 'v' -d 'Print more details on stderr'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon stop" color' -l 'color' -d 'Colour the output' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon stop" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon stop" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon status" json' -l 'json' -d 'Write JSON to stdout, one value in each line'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon status" q quiet' -l 'quiet' -s 'q' -d 'Print no notices, progress or paths'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon status"' -l 'verbose' -s 'v' -d 'Print more details on stderr'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon status" color' -l 'color' -d 'Colour the output' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon status" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon status" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm rpc" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm rpc" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm rpc" -eq 1' -fa 'secret' -d 'Print the secret, to be entered in other programs'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm rpc" -eq 1' -fa 'open' -d 'Open the web page in the browser, with the secret'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm rpc secret" metrics' -l 'metrics' -d 'Instead of the secret'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm rpc secret" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm rpc secret" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm rpc open" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm rpc open" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor"' -s 'H' -l 'header' -d 'Send this header field, \'Name' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" u user' -l 'user' -s 'u' -d 'Log in with this name and password' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" basic' -l 'basic' -d 'Send name and password with the first request'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" digest' -l 'digest' -d 'Log in with Digest authentication'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" ntlm' -l 'ntlm' -d 'Log in with NTLM authentication'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" negotiate' -l 'negotiate' -d 'Log in with Negotiate'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" anyauth' -l 'anyauth' -d 'Log in with the strongest method that the server offers'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" aws-sigv4' -l 'aws-sigv4' -d 'Sign each request with AWS Signature Version 4' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" netrc' -l 'netrc' -d 'Look up names and passwords by host in ~/.netrc'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" netrc-file' -l 'netrc-file' -d 'Look up names and passwords by host in this file' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" bearer-file' -l 'bearer-file' -d 'Send the token from this file' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" bearer-command' -l 'bearer-command' -d 'Run this program without arguments at each attempt' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" cookie-file' -l 'cookie-file' -d 'Send the cookies from this file' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" cookie-jar' -l 'cookie-jar' -d 'Save all cookies to this file when a download ends' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" insecure k' -s 'k' -l 'insecure' -d 'Do not verify the server\'s certificate'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" allow-unverified' -l 'allow-unverified' -d 'Accept a body without a size as complete when its...'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" allow-rollback' -l 'allow-rollback' -d 'With --signed-by'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" trust-on-first-use' -l 'trust-on-first-use' -d 'Record which key of --signed-by makes the first good...'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" ca-certificate' -l 'ca-certificate' -d 'Trust only the certificate authorities in this file' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" crl-file' -l 'crl-file' -d 'Refuse certificates that this file' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" certificate' -l 'certificate' -d 'Present this client certificate' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" private-key' -l 'private-key' -d 'Use this key for --certificate if the key is in a...' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" pinned-public-key' -l 'pinned-public-key' -d 'Accept only a server with this public key' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" tls-min' -l 'tls-min' -d 'Accept this version of TLS and newer ones' -rfka '1.2 1.3'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" known-hosts' -l 'known-hosts' -d 'Check the keys of SSH servers against this file' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" ssh-key' -l 'ssh-key' -d 'Log in over SSH' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" ssl' -l 'ssl' -d 'Encrypt ftp with TLS if the server supports it'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" ssl-reqd' -l 'ssl-reqd' -d 'Encrypt ftp with TLS'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" proto' -l 'proto' -d 'Allow only these schemes, also after redirects' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" proxy' -l 'proxy' -d 'Use this proxy instead of the one in the environment' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" no-proxy' -l 'no-proxy' -d 'Use no proxy for these hosts, separated by commas' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" interface' -l 'interface' -d 'Send from this network interface or local address' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" 4 ipv4' -s '4' -l 'ipv4' -d 'Use only IPv4'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" 6 ipv6' -s '6' -l 'ipv6' -d 'Use only IPv6'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" http1.1' -l 'http1.1' -d 'Use only HTTP/1.1'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" http2' -l 'http2' -d 'Use HTTP/2 over https if the server supports it'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" http3' -l 'http3' -d 'Use HTTP/3 over https if the server supports it'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor"' -l 'resolve' -d 'Connect to this address instead of looking up the host' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" doh-url' -l 'doh-url' -d 'Look up addresses at this server' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" dns-cache-time' -l 'dns-cache-time' -d 'Cache addresses for this long, and failed lookups for 1 s' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" json' -l 'json' -d 'Write JSON to stdout, one value in each line'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" q quiet' -l 'quiet' -s 'q' -d 'Print no notices, progress or paths'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor"' -l 'verbose' -s 'v' -d 'Print more details on stderr'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" color' -l 'color' -d 'Colour the output' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm config" json' -l 'json' -d 'Write JSON to stdout, one value in each line'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm config" q quiet' -l 'quiet' -s 'q' -d 'Print no notices, progress or paths'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm config"' -l 'verbose' -s 'v' -d 'Print more details on stderr'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm config" color' -l 'color' -d 'Colour the output' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm config" version' -l 'version' -d 'Show the version'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm config" h help' -s 'h' -l 'help' -d 'Show help information'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm help" version' -l 'version' -d 'Show the version'
