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
            __dlm_parse_subcommand -r 1 'i/input-file=' 'M/metalink-file=' 'b/background' 'ephemeral' 'j/max-concurrent=' 'max-per-host=' 'o/output=' 'd/directory=' 'if-exists=' 'c/continue' 'content-disposition' 'no-content-disposition' 'remote-time' 'no-remote-time' 'limit-rate=' 'retries=' 'retry-delay=' 'connect-timeout=' 'stall-timeout=' 'max-redirects=' 'priority=' 'retry-on=' 'max-time=' 'at=' 'window=+' 'wait=' 'paused' 'checksum=' 'checksum-file=' 'expect-type=+' 'expect-status=' 'max-size=' 'A/user-agent=' 'e/referer=' 'query=+' 'compressed' 'X/method=' 'hsts' 'no-hsts' 'x/connections=' 'H/header=+' 'data=+' 'data-urlencode=+' 'u/user=' 'basic' 'digest' 'ntlm' 'negotiate' 'anyauth' 'aws-sigv4=' 'netrc' 'netrc-file=' 'bearer-file=' 'bearer-command=' 'cookie-file=' 'cookie-jar=' 'k/insecure' 'allow-unverified' 'ca-certificate=' 'crl-file=' 'certificate=' 'private-key=' 'pinned-public-key=' 'tls-min=' 'known-hosts=' 'ssh-key=' 'ssl' 'ssl-reqd' 'proto=' 'proxy=' 'no-proxy=' 'interface=' '4/ipv4' '6/ipv6' 'http2' 'resolve=+' 'doh-url=' 'mirror=+' 'metalink-location=' 'follow-metalink' 'no-follow-metalink' 'repair' 'on-complete=' 'on-error=' 'url-command=' 'hook-timeout=' 'progress=' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'list'
            __dlm_parse_subcommand 0 'state=+' 'limit=' 'all' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'show'
            __dlm_parse_subcommand -r 1 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'pause'
            __dlm_parse_subcommand -r 1 'all' 'state=+' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'resume'
            __dlm_parse_subcommand -r 1 'all' 'state=+' 'b/background' 'x/connections=' 'H/header=+' 'data=+' 'data-urlencode=+' 'u/user=' 'basic' 'digest' 'ntlm' 'negotiate' 'anyauth' 'aws-sigv4=' 'netrc' 'netrc-file=' 'bearer-file=' 'bearer-command=' 'cookie-file=' 'cookie-jar=' 'k/insecure' 'allow-unverified' 'ca-certificate=' 'crl-file=' 'certificate=' 'private-key=' 'pinned-public-key=' 'tls-min=' 'known-hosts=' 'ssh-key=' 'ssl' 'ssl-reqd' 'proto=' 'proxy=' 'no-proxy=' 'interface=' '4/ipv4' '6/ipv6' 'http2' 'resolve=+' 'doh-url=' 'progress=' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'cancel'
            __dlm_parse_subcommand -r 1 'all' 'state=+' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'remove'
            __dlm_parse_subcommand -r 1 'all' 'state=+' 'delete-file' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'wait'
            __dlm_parse_subcommand -r 1 'all' 'state=+' 'any' 'timeout=' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'watch'
            __dlm_parse_subcommand -r 1 'all' 'state=+' 'progress=' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'events'
            __dlm_parse_subcommand 0 'since=' 'once' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'limit'
            __dlm_parse_subcommand -r 2 'all' 'state=+' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'priority'
            __dlm_parse_subcommand -r 1 'all' 'state=+' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'set-url'
            __dlm_parse_subcommand 2 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'verify'
            __dlm_parse_subcommand -r 1 'checksum=' 'checksum-file=' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'daemon'
            __dlm_parse_subcommand 0 'version' 'h/help'
            switch $unparsed_tokens[1]
            case 'run'
                __dlm_parse_subcommand 0 'j/max-concurrent=' 'max-per-host=' 'limit-rate=' 'version' 'h/help'
            case 'start'
                __dlm_parse_subcommand 0 'j/max-concurrent=' 'max-per-host=' 'limit-rate=' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
            case 'stop'
                __dlm_parse_subcommand 0 'finish' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
            case 'status'
                __dlm_parse_subcommand 0 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
            end
        case 'doctor'
            __dlm_parse_subcommand 1 'H/header=+' 'u/user=' 'basic' 'digest' 'ntlm' 'negotiate' 'anyauth' 'aws-sigv4=' 'netrc' 'netrc-file=' 'bearer-file=' 'bearer-command=' 'cookie-file=' 'cookie-jar=' 'k/insecure' 'allow-unverified' 'ca-certificate=' 'crl-file=' 'certificate=' 'private-key=' 'pinned-public-key=' 'tls-min=' 'known-hosts=' 'ssh-key=' 'ssl' 'ssl-reqd' 'proto=' 'proxy=' 'no-proxy=' 'interface=' '4/ipv4' '6/ipv6' 'http2' 'resolve=+' 'doh-url=' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
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
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'get' -d 'Download files here and now, and print their paths.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'list' -d 'List the downloads that are not finished.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'show' -d 'Show everything about downloads.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'pause' -d 'Pause downloads, wherever they run.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'resume' -d 'Go on with downloads that were paused, interrupted, cancelled or failed.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'cancel' -d 'End downloads, wherever they run.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'remove' -d 'Forget downloads and delete their partial files.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'wait' -d 'Wait until downloads are finished, and end with their status.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'watch' -d 'Show the progress of downloads, wherever they run.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'events' -d 'Print every change of every download, one JSON value a line.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'limit' -d 'Change the speed limit of downloads, or of everything that runs.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'priority' -d 'Let downloads start earlier or later.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'set-url' -d 'Go on with a download from another URL.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'verify' -d 'Check finished files against their checksums.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'daemon' -d 'Run, start, stop or look at the background session.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'doctor' -d 'Check what this build and machine can do, and what hinders downloads.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'config' -d 'Show the settings in force, and where each comes from.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'help' -d 'Show subcommand help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" i input-file' -l 'input-file' -s 'i' -d 'Also download the URLs in this file, one a line, # for comments; indented lines below a URL are options for it, such as output=NAME; - is standard input.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" M metalink-file' -s 'M' -l 'metalink-file' -d 'Also download the files of this Metalink document (RFC 5854), from all the sources that it names, verified by its digests; - is standard input.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" b background' -l 'background' -s 'b' -d 'Hand the downloads to the background session, print their numbers and return.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" ephemeral' -l 'ephemeral' -d 'Record nothing: no other command sees these downloads, and a file that is not complete at the end is deleted.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" j max-concurrent' -s 'j' -l 'max-concurrent' -d 'Downloads that run at the same time, 1 to 1000; 16 unless given.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" max-per-host' -l 'max-per-host' -d 'Of those, downloads from one host, 1 to 1000.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" o output' -l 'output' -s 'o' -d 'The file to write; folders in it are created. - is standard output: in order, with retries, verified at the end (status 9), and nothing is recorded.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" d directory' -l 'directory' -s 'd' -d 'The folder for the files; created if missing.' -rfa '(__dlm_complete_directories)'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" if-exists' -l 'if-exists' -d 'When the final name is taken: fail with status 3, overwrite it once the new file is complete, rename the new one, skip the download, or overwrite only if the server\'s is newer; fail unless given.' -rfka 'fail overwrite rename skip newer'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" c continue' -s 'c' -l 'continue' -d 'Go on with a file that another tool left unfinished under the final name: its last 64 KiB must be the server\'s, or its checksum if one is given.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" content-disposition' -l 'content-disposition' -d 'Take the name that the server gives the file, or only that of the URL; at first the former.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" no-content-disposition' -l 'no-content-disposition' -d 'Take the name that the server gives the file, or only that of the URL; at first the former.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" remote-time' -l 'remote-time' -d 'Give the file the time of its Last-Modified, or that of its download; at first the latter.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" no-remote-time' -l 'no-remote-time' -d 'Give the file the time of its Last-Modified, or that of its download; at first the latter.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" limit-rate' -l 'limit-rate' -d 'Bytes per second for each download, such as 500k, 2M or 1.5GiB; none unless given.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" retries' -l 'retries' -d 'Attempts after the first that failed, counted anew after progress; 5 unless given.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" retry-delay' -l 'retry-delay' -d 'Before the first repetition, 1 unless given; doubles each time.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" connect-timeout' -l 'connect-timeout' -d 'For name lookup, connection and TLS together; 15 unless given.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" stall-timeout' -l 'stall-timeout' -d 'Cut a connection that brings no byte for so long, and retry; 30 unless given.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" max-redirects' -l 'max-redirects' -d 'Redirects that are followed; 20 unless given.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" priority' -l 'priority' -d 'Higher starts earlier; 0 unless given.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" retry-on' -l 'retry-on' -d 'Also try again after these status codes, such as 403 or 403,520-529.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" max-time' -l 'max-time' -d 'Give a download up with status 4 when it has taken so long, repetitions included and time in the queue not; what was fetched is kept.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" at' -l 'at' -d 'Begin then: 18:00 (when clocks show that next), \'tomorrow 06:00\', \'2026-12-24 18:00\' (local time, unless Z or +01:00 follows), or +2h30m.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get"' -l 'window' -d 'Run only within this span of local time, such as 01:00-06:00 or \'Mon-Fri 22:00-06:00\'; what is not complete at its end goes on in the next. Repeatable.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" wait' -l 'wait' -d 'Let so long pass between the starts of two downloads from one host.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" paused' -l 'paused' -d 'Record it and hold it back: it begins with dlm resume, from anywhere. Without -b this command waits for that.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" checksum' -l 'checksum' -d 'What the file must hash to, such as sha256:HEX.' -rfka 'md5: sha1: sha224: sha256: sha384: sha512:'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" checksum-file' -l 'checksum-file' -d 'Find it in this file, such as SHA256SUMS, by the file\'s name; - is standard input. Its digests prove no more than the way it came: give a URL with https.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get"' -l 'expect-type' -d 'Take only this media type, such as application/zip or image/*, several with commas; a login page instead of the file is status 9, and nothing is written.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" expect-status' -l 'expect-status' -d 'Take only answers with these status codes, such as 200,203 (206, a part, counts as 200); at first 200.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" max-size' -l 'max-size' -d 'Refuse a larger file, such as 500M: before anything is written if the server tells its size, else as soon as more has come; that partial file is kept, and goes on with a larger limit.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" A user-agent' -s 'A' -l 'user-agent' -d 'Sent as User-Agent in place of dlm\'s own; \'\' for none.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" e referer' -s 'e' -l 'referer' -d 'The page that the URL is from, sent as Referer.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get"' -l 'query' -d 'A parameter for the query of each URL, percent-encoded and put behind what is there; repeatable.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" compressed' -l 'compressed' -d 'Take the file compressed (gzip, br, zstd) and write it decompressed. Its size is not known then, it comes over one connection, and one that was cut off begins anew.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" X method' -s 'X' -l 'method' -d 'In place of GET, or of POST with --data. Anything but GET comes over one connection and begins anew when it was cut off; POST and PATCH are not repeated once they may have reached the server.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" hsts' -l 'hsts' -d 'Ask hosts over https that said that they want that (HSTS), and remember those that say it; on unless --no-hsts is given.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" no-hsts' -l 'no-hsts' -d 'Ask hosts over https that said that they want that (HSTS), and remember those that say it; on unless --no-hsts is given.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" connections x' -s 'x' -l 'connections' -d 'Connections for each file, 1 to 64, or auto for as many as pay, at most 16, and without HTTP one; at first auto.' -rfka 'auto 1 2 4 8 16'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get"' -s 'H' -l 'header' -d 'A header field for the request, \'Name: value\'; repeatable.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get"' -l 'data' -d 'Sent with the request, as a form and by POST unless -X and -H say otherwise; @FILE is what is in the file without its line breaks, @- standard input; several are joined with &.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get"' -l 'data-urlencode' -d 'The same, percent-encoded: VALUE, NAME=VALUE, @FILE or NAME@FILE; comes behind --data.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" u user' -l 'user' -s 'u' -d 'For a server that asks for them, unless the URL has its own; the password is asked for on the terminal when it is missing.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" basic' -l 'basic' -d 'Show them as they are, with the first request (at first).'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" digest' -l 'digest' -d 'Answer the server\'s challenge with a digest of them, and never send them.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" ntlm' -l 'ntlm' -d 'Answer with NTLM.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" negotiate' -l 'negotiate' -d 'Answer with Negotiate (Kerberos), by the ticket there is unless -u is given.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" anyauth' -l 'anyauth' -d 'Answer with the best that the server has.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" aws-sigv4' -l 'aws-sigv4' -d 'Sign each request (AWS Signature Version 4) with -u KEY:SECRET, as in aws:amz:eu-central-1:s3.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" netrc' -l 'netrc' -d 'Look up names and passwords by host in ~/.netrc.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" netrc-file' -l 'netrc-file' -d 'Look them up in this file.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" bearer-file' -l 'bearer-file' -d 'Send the token in this file (Authorization: Bearer); read at each attempt, so it may be renewed.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" bearer-command' -l 'bearer-command' -d 'Send the token that this program prints; it is run at each attempt, without arguments.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" cookie-file' -l 'cookie-file' -d 'Send the cookies in this file of Netscape\'s format, read at each attempt.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" cookie-jar' -l 'cookie-jar' -d 'Keep the cookies that are known at the end in this file; it may be the same one.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" insecure k' -s 'k' -l 'insecure' -d 'Do not verify the server\'s certificate.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" allow-unverified' -l 'allow-unverified' -d 'Take what nothing proves: that a body without a size, which only the end of its connection ends, is whole; and, without a strong ETag or Last-Modified or a checksum, that a file is still the same, so that only the last 64 KiB of what is here are compared, and not all of it.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" ca-certificate' -l 'ca-certificate' -d 'Trust the authorities in this file (PEM), and no others.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" crl-file' -l 'crl-file' -d 'Refuse certificates that this file (PEM) calls revoked; it must have a list of each authority.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" certificate' -l 'certificate' -d 'Show the server this certificate (PEM).' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" private-key' -l 'private-key' -d 'The key of --certificate, where it is not in the same file; without a passphrase.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" pinned-public-key' -l 'pinned-public-key' -d 'Accept no other public key of a server: sha256//BASE64, several with ; between them, or a file with the key. Only https then.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" tls-min' -l 'tls-min' -d 'The oldest version of TLS that is accepted, 1.2 or 1.3; at first 1.2.' -rfka '1.2 1.3'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" known-hosts' -l 'known-hosts' -d 'The keys of SSH servers, as OpenSSH keeps them; at first ~/.ssh/known_hosts.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" ssh-key' -l 'ssh-key' -d 'Log in with this key over SSH (sftp, scp), without a passphrase; at first the agent\'s, and id_ed25519, id_ecdsa or id_rsa in ~/.ssh.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" ssl' -l 'ssl' -d 'Encrypt ftp with TLS where the server has it; ftps is encrypted in any case.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" ssl-reqd' -l 'ssl-reqd' -d 'Encrypt ftp with TLS, or do not fetch.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" proto' -l 'proto' -d 'The schemes that may be used, also behind redirects, such as =https.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" proxy' -l 'proxy' -d 'Go through this proxy in place of the environment\'s; \'\' for none. SCHEME://NAME:PASSWORD@HOST:PORT with http, https, socks4, socks4a, socks5 or socks5h for SCHEME; only HOST must be given.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" no-proxy' -l 'no-proxy' -d 'Hosts that are asked without a proxy, with commas between them; * for all.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" interface' -l 'interface' -d 'Send from this interface or address of this machine.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" 4 ipv4' -s '4' -l 'ipv4' -d 'Use IPv4 alone.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" 6 ipv6' -s '6' -l 'ipv6' -d 'Use IPv6 alone.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" http1.1' -l 'http1.1' -d 'Use HTTP/1.1 alone.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" http2' -l 'http2' -d 'Use HTTP/2 over https, where the server has it, also for large files.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get"' -l 'resolve' -d 'Connect to this address for a host and port; of several (with commas) to the next one after a failure. Repeatable.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" doh-url' -l 'doh-url' -d 'Ask this server (DNS over HTTPS) for addresses.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get"' -l 'mirror' -d 'Where the same file is, too; repeatable. Asked when the URL fails, in this order. What is here is continued only where it is proved to be the same file. Passwords and header fields go to the URL\'s server alone.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" metalink-location' -l 'metalink-location' -d 'Of the sources in a Metalink document, ask those of this country first: de, us.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" follow-metalink' -l 'follow-metalink' -d 'Where the server answers with a Metalink document of one file, download that file, or the document; and go by the one that it names for its file (Link: rel=describedby), or do not. At first the former.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" no-follow-metalink' -l 'no-follow-metalink' -d 'Where the server answers with a Metalink document of one file, download that file, or the document; and go by the one that it names for its file (Link: rel=describedby), or do not. At first the former.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" repair' -l 'repair' -d 'Check the file that is here, finished or not, by the digests of its pieces, and fetch only those that do not match. They come with its Metalink document (-M), or are known of a download that had one.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" on-complete' -l 'on-complete' -d 'Run this program, a path or a name in PATH, once a download is complete: without a shell or arguments, with DLM_* variables and its JSON on standard input.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" on-error' -l 'on-error' -d 'The same once a download has failed for good, and is not tried again.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" url-command' -l 'url-command' -d 'For links that expire: run this command of a shell after an answer of 401, 403 or 410, or when the link says that its time is over, and go on with the URL that it prints.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" hook-timeout' -l 'hook-timeout' -d 'End a program that takes longer; 300 unless given.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" progress' -l 'progress' -d 'Show progress on stderr: bars on a terminal and nothing elsewhere (auto, the default), bars (bar), a line every few seconds (plain), JSON values (json), or nothing (none).' -rfka 'auto bar plain json none'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" json' -l 'json' -d 'Write JSON to stdout, one value a line.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" q quiet' -l 'quiet' -s 'q' -d 'Print nothing but errors.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get"' -l 'verbose' -s 'v' -d 'Tell more on stderr; secrets are never shown.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" color' -l 'color' -d 'Colour the output on terminals (auto, the default), always or never.' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list"' -l 'state' -d 'Only downloads in this state; repeatable.' -rfka 'queued running waiting paused completed failed cancelled'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list" limit' -l 'limit' -d 'Only the newest so many.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list" all' -l 'all' -d 'Also the completed and cancelled ones.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list" json' -l 'json' -d 'Write JSON to stdout, one value a line.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list" q quiet' -l 'quiet' -s 'q' -d 'Print nothing but errors.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list"' -l 'verbose' -s 'v' -d 'Tell more on stderr; secrets are never shown.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list" color' -l 'color' -d 'Colour the output on terminals (auto, the default), always or never.' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm show" -ge 1' -fka '(__dlm_custom_completion ---completion show -- positional@0 (count (__dlm_tokens -pc)) (__dlm_tokens -tC))'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm show" json' -l 'json' -d 'Write JSON to stdout, one value a line.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm show" q quiet' -l 'quiet' -s 'q' -d 'Print nothing but errors.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm show"' -l 'verbose' -s 'v' -d 'Tell more on stderr; secrets are never shown.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm show" color' -l 'color' -d 'Colour the output on terminals (auto, the default), always or never.' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm show" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm show" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm pause" -ge 1' -fka '(__dlm_custom_completion ---completion pause -- positional@0 (count (__dlm_tokens -pc)) (__dlm_tokens -tC))'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm pause" all' -l 'all' -d 'Every download for which there is something to do.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm pause"' -l 'state' -d 'Every download in this state; repeatable.' -rfka 'queued running waiting paused completed failed cancelled'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm pause" json' -l 'json' -d 'Write JSON to stdout, one value a line.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm pause" q quiet' -l 'quiet' -s 'q' -d 'Print nothing but errors.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm pause"' -l 'verbose' -s 'v' -d 'Tell more on stderr; secrets are never shown.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm pause" color' -l 'color' -d 'Colour the output on terminals (auto, the default), always or never.' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm pause" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm pause" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm resume" -ge 1' -fka '(__dlm_custom_completion ---completion resume -- positional@0 (count (__dlm_tokens -pc)) (__dlm_tokens -tC))'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" all' -l 'all' -d 'Every download for which there is something to do.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume"' -l 'state' -d 'Every download in this state; repeatable.' -rfka 'queued running waiting paused completed failed cancelled'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" b background' -l 'background' -s 'b' -d 'Go on in the background session, and return at once.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" connections x' -s 'x' -l 'connections' -d 'Connections for each file, 1 to 64, or auto for as many as pay, at most 16, and without HTTP one; at first auto.' -rfka 'auto 1 2 4 8 16'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume"' -s 'H' -l 'header' -d 'A header field for the request, \'Name: value\'; repeatable.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume"' -l 'data' -d 'Sent with the request, as a form and by POST unless -X and -H say otherwise; @FILE is what is in the file without its line breaks, @- standard input; several are joined with &.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume"' -l 'data-urlencode' -d 'The same, percent-encoded: VALUE, NAME=VALUE, @FILE or NAME@FILE; comes behind --data.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" u user' -l 'user' -s 'u' -d 'For a server that asks for them, unless the URL has its own; the password is asked for on the terminal when it is missing.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" basic' -l 'basic' -d 'Show them as they are, with the first request (at first).'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" digest' -l 'digest' -d 'Answer the server\'s challenge with a digest of them, and never send them.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" ntlm' -l 'ntlm' -d 'Answer with NTLM.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" negotiate' -l 'negotiate' -d 'Answer with Negotiate (Kerberos), by the ticket there is unless -u is given.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" anyauth' -l 'anyauth' -d 'Answer with the best that the server has.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" aws-sigv4' -l 'aws-sigv4' -d 'Sign each request (AWS Signature Version 4) with -u KEY:SECRET, as in aws:amz:eu-central-1:s3.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" netrc' -l 'netrc' -d 'Look up names and passwords by host in ~/.netrc.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" netrc-file' -l 'netrc-file' -d 'Look them up in this file.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" bearer-file' -l 'bearer-file' -d 'Send the token in this file (Authorization: Bearer); read at each attempt, so it may be renewed.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" bearer-command' -l 'bearer-command' -d 'Send the token that this program prints; it is run at each attempt, without arguments.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" cookie-file' -l 'cookie-file' -d 'Send the cookies in this file of Netscape\'s format, read at each attempt.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" cookie-jar' -l 'cookie-jar' -d 'Keep the cookies that are known at the end in this file; it may be the same one.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" insecure k' -s 'k' -l 'insecure' -d 'Do not verify the server\'s certificate.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" allow-unverified' -l 'allow-unverified' -d 'Take what nothing proves: that a body without a size, which only the end of its connection ends, is whole; and, without a strong ETag or Last-Modified or a checksum, that a file is still the same, so that only the last 64 KiB of what is here are compared, and not all of it.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" ca-certificate' -l 'ca-certificate' -d 'Trust the authorities in this file (PEM), and no others.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" crl-file' -l 'crl-file' -d 'Refuse certificates that this file (PEM) calls revoked; it must have a list of each authority.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" certificate' -l 'certificate' -d 'Show the server this certificate (PEM).' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" private-key' -l 'private-key' -d 'The key of --certificate, where it is not in the same file; without a passphrase.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" pinned-public-key' -l 'pinned-public-key' -d 'Accept no other public key of a server: sha256//BASE64, several with ; between them, or a file with the key. Only https then.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" tls-min' -l 'tls-min' -d 'The oldest version of TLS that is accepted, 1.2 or 1.3; at first 1.2.' -rfka '1.2 1.3'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" known-hosts' -l 'known-hosts' -d 'The keys of SSH servers, as OpenSSH keeps them; at first ~/.ssh/known_hosts.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" ssh-key' -l 'ssh-key' -d 'Log in with this key over SSH (sftp, scp), without a passphrase; at first the agent\'s, and id_ed25519, id_ecdsa or id_rsa in ~/.ssh.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" ssl' -l 'ssl' -d 'Encrypt ftp with TLS where the server has it; ftps is encrypted in any case.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" ssl-reqd' -l 'ssl-reqd' -d 'Encrypt ftp with TLS, or do not fetch.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" proto' -l 'proto' -d 'The schemes that may be used, also behind redirects, such as =https.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" proxy' -l 'proxy' -d 'Go through this proxy in place of the environment\'s; \'\' for none. SCHEME://NAME:PASSWORD@HOST:PORT with http, https, socks4, socks4a, socks5 or socks5h for SCHEME; only HOST must be given.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" no-proxy' -l 'no-proxy' -d 'Hosts that are asked without a proxy, with commas between them; * for all.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" interface' -l 'interface' -d 'Send from this interface or address of this machine.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" 4 ipv4' -s '4' -l 'ipv4' -d 'Use IPv4 alone.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" 6 ipv6' -s '6' -l 'ipv6' -d 'Use IPv6 alone.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" http1.1' -l 'http1.1' -d 'Use HTTP/1.1 alone.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" http2' -l 'http2' -d 'Use HTTP/2 over https, where the server has it, also for large files.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume"' -l 'resolve' -d 'Connect to this address for a host and port; of several (with commas) to the next one after a failure. Repeatable.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" doh-url' -l 'doh-url' -d 'Ask this server (DNS over HTTPS) for addresses.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" progress' -l 'progress' -d 'Show progress on stderr: bars on a terminal and nothing elsewhere (auto, the default), bars (bar), a line every few seconds (plain), JSON values (json), or nothing (none).' -rfka 'auto bar plain json none'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" json' -l 'json' -d 'Write JSON to stdout, one value a line.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" q quiet' -l 'quiet' -s 'q' -d 'Print nothing but errors.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume"' -l 'verbose' -s 'v' -d 'Tell more on stderr; secrets are never shown.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" color' -l 'color' -d 'Colour the output on terminals (auto, the default), always or never.' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm cancel" -ge 1' -fka '(__dlm_custom_completion ---completion cancel -- positional@0 (count (__dlm_tokens -pc)) (__dlm_tokens -tC))'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm cancel" all' -l 'all' -d 'Every download for which there is something to do.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm cancel"' -l 'state' -d 'Every download in this state; repeatable.' -rfka 'queued running waiting paused completed failed cancelled'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm cancel" json' -l 'json' -d 'Write JSON to stdout, one value a line.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm cancel" q quiet' -l 'quiet' -s 'q' -d 'Print nothing but errors.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm cancel"' -l 'verbose' -s 'v' -d 'Tell more on stderr; secrets are never shown.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm cancel" color' -l 'color' -d 'Colour the output on terminals (auto, the default), always or never.' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm cancel" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm cancel" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm remove" -ge 1' -fka '(__dlm_custom_completion ---completion remove -- positional@0 (count (__dlm_tokens -pc)) (__dlm_tokens -tC))'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm remove" all' -l 'all' -d 'Every download for which there is something to do.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm remove"' -l 'state' -d 'Every download in this state; repeatable.' -rfka 'queued running waiting paused completed failed cancelled'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm remove" delete-file' -l 'delete-file' -d 'Also delete the finished files.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm remove" json' -l 'json' -d 'Write JSON to stdout, one value a line.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm remove" q quiet' -l 'quiet' -s 'q' -d 'Print nothing but errors.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm remove"' -l 'verbose' -s 'v' -d 'Tell more on stderr; secrets are never shown.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm remove" color' -l 'color' -d 'Colour the output on terminals (auto, the default), always or never.' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm remove" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm remove" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm wait" -ge 1' -fka '(__dlm_custom_completion ---completion wait -- positional@0 (count (__dlm_tokens -pc)) (__dlm_tokens -tC))'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm wait" all' -l 'all' -d 'Every download for which there is something to do.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm wait"' -l 'state' -d 'Every download in this state; repeatable.' -rfka 'queued running waiting paused completed failed cancelled'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm wait" any' -l 'any' -d 'Until the first of them is finished.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm wait" timeout' -l 'timeout' -d 'Give up after so long, with status 1.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm wait" json' -l 'json' -d 'Write JSON to stdout, one value a line.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm wait" q quiet' -l 'quiet' -s 'q' -d 'Print nothing but errors.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm wait"' -l 'verbose' -s 'v' -d 'Tell more on stderr; secrets are never shown.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm wait" color' -l 'color' -d 'Colour the output on terminals (auto, the default), always or never.' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm wait" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm wait" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm watch" -ge 1' -fka '(__dlm_custom_completion ---completion watch -- positional@0 (count (__dlm_tokens -pc)) (__dlm_tokens -tC))'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm watch" all' -l 'all' -d 'Every download for which there is something to do.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm watch"' -l 'state' -d 'Every download in this state; repeatable.' -rfka 'queued running waiting paused completed failed cancelled'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm watch" progress' -l 'progress' -d 'Show progress on stderr: bars on a terminal and nothing elsewhere (auto, the default), bars (bar), a line every few seconds (plain), JSON values (json), or nothing (none).' -rfka 'auto bar plain json none'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm watch" json' -l 'json' -d 'Write JSON to stdout, one value a line.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm watch" q quiet' -l 'quiet' -s 'q' -d 'Print nothing but errors.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm watch"' -l 'verbose' -s 'v' -d 'Tell more on stderr; secrets are never shown.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm watch" color' -l 'color' -d 'Colour the output on terminals (auto, the default), always or never.' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm watch" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm watch" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm events" since' -l 'since' -d 'Begin with the events behind this one; 0 for all there are.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm events" once' -l 'once' -d 'End after what has happened already.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm events" json' -l 'json' -d 'Write JSON to stdout, one value a line.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm events" q quiet' -l 'quiet' -s 'q' -d 'Print nothing but errors.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm events"' -l 'verbose' -s 'v' -d 'Tell more on stderr; secrets are never shown.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm events" color' -l 'color' -d 'Colour the output on terminals (auto, the default), always or never.' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm events" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm events" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm limit" -eq 1' -fka 'none 500k 1M 10M'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm limit" -ge 2' -fka '(__dlm_custom_completion ---completion limit -- positional@1 (count (__dlm_tokens -pc)) (__dlm_tokens -tC))'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm limit" all' -l 'all' -d 'Every download for which there is something to do.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm limit"' -l 'state' -d 'Every download in this state; repeatable.' -rfka 'queued running waiting paused completed failed cancelled'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm limit" json' -l 'json' -d 'Write JSON to stdout, one value a line.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm limit" q quiet' -l 'quiet' -s 'q' -d 'Print nothing but errors.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm limit"' -l 'verbose' -s 'v' -d 'Tell more on stderr; secrets are never shown.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm limit" color' -l 'color' -d 'Colour the output on terminals (auto, the default), always or never.' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm limit" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm limit" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm priority" -ge 1' -fka '(__dlm_custom_completion ---completion priority -- positional@0 (count (__dlm_tokens -pc)) (__dlm_tokens -tC))'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm priority" all' -l 'all' -d 'Every download for which there is something to do.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm priority"' -l 'state' -d 'Every download in this state; repeatable.' -rfka 'queued running waiting paused completed failed cancelled'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm priority" json' -l 'json' -d 'Write JSON to stdout, one value a line.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm priority" q quiet' -l 'quiet' -s 'q' -d 'Print nothing but errors.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm priority"' -l 'verbose' -s 'v' -d 'Tell more on stderr; secrets are never shown.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm priority" color' -l 'color' -d 'Colour the output on terminals (auto, the default), always or never.' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm priority" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm priority" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm set-url" -eq 1' -fka '(__dlm_custom_completion ---completion set-url -- positional@0 (count (__dlm_tokens -pc)) (__dlm_tokens -tC))'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm set-url" json' -l 'json' -d 'Write JSON to stdout, one value a line.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm set-url" q quiet' -l 'quiet' -s 'q' -d 'Print nothing but errors.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm set-url"' -l 'verbose' -s 'v' -d 'Tell more on stderr; secrets are never shown.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm set-url" color' -l 'color' -d 'Colour the output on terminals (auto, the default), always or never.' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm set-url" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm set-url" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm verify" -ge 1' -F
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm verify" checksum' -l 'checksum' -d 'What the file must hash to, such as sha256:HEX.' -rfka 'md5: sha1: sha224: sha256: sha384: sha512:'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm verify" checksum-file' -l 'checksum-file' -d 'Find it in this file, such as SHA256SUMS, by the file\'s name; - is standard input. Its digests prove no more than the way it came: give a URL with https.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm verify" json' -l 'json' -d 'Write JSON to stdout, one value a line.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm verify" q quiet' -l 'quiet' -s 'q' -d 'Print nothing but errors.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm verify"' -l 'verbose' -s 'v' -d 'Tell more on stderr; secrets are never shown.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm verify" color' -l 'color' -d 'Colour the output on terminals (auto, the default), always or never.' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm verify" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm verify" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm daemon" -eq 1' -fa 'run' -d 'Be the background session, in the foreground: for systemd and its like.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm daemon" -eq 1' -fa 'start' -d 'Start the background session and return when it serves.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm daemon" -eq 1' -fa 'stop' -d 'End the background session and return when it has ended.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm daemon" -eq 1' -fa 'status' -d 'Show how the background session is; status 1 when it is not running.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon run" j max-concurrent' -s 'j' -l 'max-concurrent' -d 'Downloads that run at the same time, 1 to 1000; 16 unless given.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon run" max-per-host' -l 'max-per-host' -d 'Of these, from one host; at first as many as run at all.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon run" limit-rate' -l 'limit-rate' -d 'Bytes per second for all together, such as 500k or 2M; none lifts it.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon run" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon run" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon start" j max-concurrent' -s 'j' -l 'max-concurrent' -d 'Downloads that run at the same time, 1 to 1000; 16 unless given.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon start" max-per-host' -l 'max-per-host' -d 'Of these, from one host; at first as many as run at all.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon start" limit-rate' -l 'limit-rate' -d 'Bytes per second for all together, such as 500k or 2M; none lifts it.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon start" json' -l 'json' -d 'Write JSON to stdout, one value a line.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon start" q quiet' -l 'quiet' -s 'q' -d 'Print nothing but errors.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon start"' -l 'verbose' -s 'v' -d 'Tell more on stderr; secrets are never shown.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon start" color' -l 'color' -d 'Colour the output on terminals (auto, the default), always or never.' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon start" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon start" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon stop" finish' -l 'finish' -d 'Let running downloads end first, however long it takes; nothing new is begun.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon stop" json' -l 'json' -d 'Write JSON to stdout, one value a line.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon stop" q quiet' -l 'quiet' -s 'q' -d 'Print nothing but errors.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon stop"' -l 'verbose' -s 'v' -d 'Tell more on stderr; secrets are never shown.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon stop" color' -l 'color' -d 'Colour the output on terminals (auto, the default), always or never.' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon stop" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon stop" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon status" json' -l 'json' -d 'Write JSON to stdout, one value a line.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon status" q quiet' -l 'quiet' -s 'q' -d 'Print nothing but errors.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon status"' -l 'verbose' -s 'v' -d 'Tell more on stderr; secrets are never shown.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon status" color' -l 'color' -d 'Colour the output on terminals (auto, the default), always or never.' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon status" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm daemon status" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor"' -s 'H' -l 'header' -d 'A header field for the request, \'Name: value\'; repeatable.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" u user' -l 'user' -s 'u' -d 'For a server that asks for them, unless the URL has its own; the password is asked for on the terminal when it is missing.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" basic' -l 'basic' -d 'Show them as they are, with the first request (at first).'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" digest' -l 'digest' -d 'Answer the server\'s challenge with a digest of them, and never send them.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" ntlm' -l 'ntlm' -d 'Answer with NTLM.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" negotiate' -l 'negotiate' -d 'Answer with Negotiate (Kerberos), by the ticket there is unless -u is given.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" anyauth' -l 'anyauth' -d 'Answer with the best that the server has.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" aws-sigv4' -l 'aws-sigv4' -d 'Sign each request (AWS Signature Version 4) with -u KEY:SECRET, as in aws:amz:eu-central-1:s3.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" netrc' -l 'netrc' -d 'Look up names and passwords by host in ~/.netrc.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" netrc-file' -l 'netrc-file' -d 'Look them up in this file.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" bearer-file' -l 'bearer-file' -d 'Send the token in this file (Authorization: Bearer); read at each attempt, so it may be renewed.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" bearer-command' -l 'bearer-command' -d 'Send the token that this program prints; it is run at each attempt, without arguments.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" cookie-file' -l 'cookie-file' -d 'Send the cookies in this file of Netscape\'s format, read at each attempt.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" cookie-jar' -l 'cookie-jar' -d 'Keep the cookies that are known at the end in this file; it may be the same one.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" insecure k' -s 'k' -l 'insecure' -d 'Do not verify the server\'s certificate.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" allow-unverified' -l 'allow-unverified' -d 'Take what nothing proves: that a body without a size, which only the end of its connection ends, is whole; and, without a strong ETag or Last-Modified or a checksum, that a file is still the same, so that only the last 64 KiB of what is here are compared, and not all of it.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" ca-certificate' -l 'ca-certificate' -d 'Trust the authorities in this file (PEM), and no others.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" crl-file' -l 'crl-file' -d 'Refuse certificates that this file (PEM) calls revoked; it must have a list of each authority.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" certificate' -l 'certificate' -d 'Show the server this certificate (PEM).' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" private-key' -l 'private-key' -d 'The key of --certificate, where it is not in the same file; without a passphrase.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" pinned-public-key' -l 'pinned-public-key' -d 'Accept no other public key of a server: sha256//BASE64, several with ; between them, or a file with the key. Only https then.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" tls-min' -l 'tls-min' -d 'The oldest version of TLS that is accepted, 1.2 or 1.3; at first 1.2.' -rfka '1.2 1.3'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" known-hosts' -l 'known-hosts' -d 'The keys of SSH servers, as OpenSSH keeps them; at first ~/.ssh/known_hosts.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" ssh-key' -l 'ssh-key' -d 'Log in with this key over SSH (sftp, scp), without a passphrase; at first the agent\'s, and id_ed25519, id_ecdsa or id_rsa in ~/.ssh.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" ssl' -l 'ssl' -d 'Encrypt ftp with TLS where the server has it; ftps is encrypted in any case.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" ssl-reqd' -l 'ssl-reqd' -d 'Encrypt ftp with TLS, or do not fetch.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" proto' -l 'proto' -d 'The schemes that may be used, also behind redirects, such as =https.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" proxy' -l 'proxy' -d 'Go through this proxy in place of the environment\'s; \'\' for none. SCHEME://NAME:PASSWORD@HOST:PORT with http, https, socks4, socks4a, socks5 or socks5h for SCHEME; only HOST must be given.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" no-proxy' -l 'no-proxy' -d 'Hosts that are asked without a proxy, with commas between them; * for all.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" interface' -l 'interface' -d 'Send from this interface or address of this machine.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" 4 ipv4' -s '4' -l 'ipv4' -d 'Use IPv4 alone.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" 6 ipv6' -s '6' -l 'ipv6' -d 'Use IPv6 alone.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" http1.1' -l 'http1.1' -d 'Use HTTP/1.1 alone.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" http2' -l 'http2' -d 'Use HTTP/2 over https, where the server has it, also for large files.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor"' -l 'resolve' -d 'Connect to this address for a host and port; of several (with commas) to the next one after a failure. Repeatable.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" doh-url' -l 'doh-url' -d 'Ask this server (DNS over HTTPS) for addresses.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" json' -l 'json' -d 'Write JSON to stdout, one value a line.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" q quiet' -l 'quiet' -s 'q' -d 'Print nothing but errors.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor"' -l 'verbose' -s 'v' -d 'Tell more on stderr; secrets are never shown.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" color' -l 'color' -d 'Colour the output on terminals (auto, the default), always or never.' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm doctor" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm config" json' -l 'json' -d 'Write JSON to stdout, one value a line.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm config" q quiet' -l 'quiet' -s 'q' -d 'Print nothing but errors.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm config"' -l 'verbose' -s 'v' -d 'Tell more on stderr; secrets are never shown.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm config" color' -l 'color' -d 'Colour the output on terminals (auto, the default), always or never.' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm config" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm config" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm help" version' -l 'version' -d 'Show the version.'
