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
    set -l unparsed_tokens (__dlm_tokens -pc)
    switch $unparsed_tokens[1]
    case 'dlm'
        __dlm_parse_subcommand 0 'version' 'h/help'
        switch $unparsed_tokens[1]
        case 'get'
            __dlm_parse_subcommand -r 1 'i/input-file=' 'o/output=' 'd/directory=' 'if-exists=' 'j/max-concurrent=' 'checksum=' 'retries=' 'retry-delay=' 'connect-timeout=' 'stall-timeout=' 'max-redirects=' 'priority=' 'x/connections=' 'k/insecure' 'H/header=+' 'progress=' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'list'
            __dlm_parse_subcommand 0 'state=+' 'limit=' 'all' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'show'
            __dlm_parse_subcommand -r 1 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'resume'
            __dlm_parse_subcommand -r 1 'all' 'x/connections=' 'k/insecure' 'H/header=+' 'progress=' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
        case 'remove'
            __dlm_parse_subcommand -r 1 'delete-file' 'json' 'q/quiet' 'v/verbose' 'color=' 'version' 'h/help'
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
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'resume' -d 'Go on with downloads that were paused, interrupted or failed.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'remove' -d 'Forget downloads and delete their partial files.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_positional "dlm" -eq 1' -fa 'help' -d 'Show subcommand help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" i input-file' -l 'input-file' -s 'i' -d 'Also download the URLs in this file, one a line, # for comments; - is standard input.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" o output' -l 'output' -s 'o' -d 'The file to write; folders in it are created.' -rF
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" d directory' -l 'directory' -s 'd' -d 'The folder for the files; created if missing.' -rfa '(__dlm_complete_directories)'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" if-exists' -l 'if-exists' -d 'When the final name is taken: fail with status 3, overwrite it once the new file is complete, rename the new one, skip the download, or overwrite only if the server\'s is newer.' -rfka 'fail overwrite rename skip newer'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" j max-concurrent' -s 'j' -l 'max-concurrent' -d 'Downloads that run at the same time, 1 to 1000; 16 unless given.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" checksum' -l 'checksum' -d 'What the file must hash to, such as sha256:HEX.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" retries' -l 'retries' -d 'Attempts after the first that failed, counted anew after progress.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" retry-delay' -l 'retry-delay' -d 'Before the first repetition, 1 unless given; doubles each time.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" connect-timeout' -l 'connect-timeout' -d 'For name lookup, connection and TLS together; 15 unless given.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" stall-timeout' -l 'stall-timeout' -d 'Cut a connection that brings no byte for so long, and retry; 30 unless given.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" max-redirects' -l 'max-redirects' -d 'Redirects that are followed.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" priority' -l 'priority' -d 'Higher starts earlier.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" connections x' -s 'x' -l 'connections' -d 'Connections for each file, 1 to 64; at first 1.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" insecure k' -s 'k' -l 'insecure' -d 'Do not verify the server\'s certificate.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get"' -s 'H' -l 'header' -d 'A header field for the request, \'Name: value\'; repeatable.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" progress' -l 'progress' -d 'Show progress on stderr: bars on a terminal and nothing elsewhere (auto), bars (bar), a line every few seconds (plain), or nothing (none).' -rfka 'auto bar plain none'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" json' -l 'json' -d 'Write JSON to stdout, one value a line.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" q quiet' -l 'quiet' -s 'q' -d 'Print nothing but errors.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get"' -l 'verbose' -s 'v' -d 'Tell more on stderr; secrets are never shown.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" color' -l 'color' -d 'Colour the output on terminals, always or never.' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm get" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list"' -l 'state' -d 'Only downloads in this state; repeatable.' -rfka 'queued running waiting paused completed failed cancelled'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list" limit' -l 'limit' -d 'Only the newest so many.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list" all' -l 'all' -d 'Also the completed and cancelled ones.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list" json' -l 'json' -d 'Write JSON to stdout, one value a line.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list" q quiet' -l 'quiet' -s 'q' -d 'Print nothing but errors.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list"' -l 'verbose' -s 'v' -d 'Tell more on stderr; secrets are never shown.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list" color' -l 'color' -d 'Colour the output on terminals, always or never.' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm list" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm show" json' -l 'json' -d 'Write JSON to stdout, one value a line.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm show" q quiet' -l 'quiet' -s 'q' -d 'Print nothing but errors.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm show"' -l 'verbose' -s 'v' -d 'Tell more on stderr; secrets are never shown.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm show" color' -l 'color' -d 'Colour the output on terminals, always or never.' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm show" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm show" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" all' -l 'all' -d 'Everything that dlm list shows.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" connections x' -s 'x' -l 'connections' -d 'Connections for each file, 1 to 64; at first 1.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" insecure k' -s 'k' -l 'insecure' -d 'Do not verify the server\'s certificate.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume"' -s 'H' -l 'header' -d 'A header field for the request, \'Name: value\'; repeatable.' -rfka ''
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" progress' -l 'progress' -d 'Show progress on stderr: bars on a terminal and nothing elsewhere (auto), bars (bar), a line every few seconds (plain), or nothing (none).' -rfka 'auto bar plain none'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" json' -l 'json' -d 'Write JSON to stdout, one value a line.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" q quiet' -l 'quiet' -s 'q' -d 'Print nothing but errors.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume"' -l 'verbose' -s 'v' -d 'Tell more on stderr; secrets are never shown.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" color' -l 'color' -d 'Colour the output on terminals, always or never.' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm resume" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm remove" delete-file' -l 'delete-file' -d 'Also delete the finished files.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm remove" json' -l 'json' -d 'Write JSON to stdout, one value a line.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm remove" q quiet' -l 'quiet' -s 'q' -d 'Print nothing but errors.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm remove"' -l 'verbose' -s 'v' -d 'Tell more on stderr; secrets are never shown.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm remove" color' -l 'color' -d 'Colour the output on terminals, always or never.' -rfka 'auto always never'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm remove" version' -l 'version' -d 'Show the version.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm remove" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'dlm' -n '__dlm_should_offer_completions_for_flags_or_options "dlm help" version' -l 'version' -d 'Show the version.'
