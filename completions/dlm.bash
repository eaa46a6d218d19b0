#!/bin/bash

__dlm_cursor_index_in_current_word() {
    local remaining="${COMP_LINE}"

    local word
    for word in "${COMP_WORDS[@]::COMP_CWORD}"; do
        remaining="${remaining##*([[:space:]])"${word}"*([[:space:]])}"
    done

    local -ir index="$((COMP_POINT - ${#COMP_LINE} + ${#remaining}))"
    if [[ "${index}" -le 0 ]]; then
        printf 0
    else
        printf %s "${index}"
    fi
}

# positional arguments:
#
# - 1: the current (sub)command's count of positional arguments
#
# required variables:
#
# - repeating_flags: the repeating flags that the current (sub)command can accept
# - non_repeating_flags: the non-repeating flags that the current (sub)command can accept
# - repeating_options: the repeating options that the current (sub)command can accept
# - non_repeating_options: the non-repeating options that the current (sub)command can accept
# - positional_number: value ignored
# - unparsed_words: unparsed words from the current command line
#
# modified variables:
#
# - non_repeating_flags: remove flags for this (sub)command that are already on the command line
# - non_repeating_options: remove options for this (sub)command that are already on the command line
# - positional_number: set to the current positional number
# - unparsed_words: remove all flags, options, and option values for this (sub)command
__dlm_offer_flags_options() {
    local -ir positional_count="${1}"
    positional_number=0

    local was_flag_option_terminator_seen=false
    local is_parsing_option_value=false

    local -ar unparsed_word_indices=("${!unparsed_words[@]}")
    local -i word_index
    for word_index in "${unparsed_word_indices[@]}"; do
        if "${is_parsing_option_value}"; then
            # This word is an option value:
            # Reset marker for next word iff not currently the last word
            [[ "${word_index}" -ne "${unparsed_word_indices[${#unparsed_word_indices[@]} - 1]}" ]] && is_parsing_option_value=false
            unset "unparsed_words[${word_index}]"
            # Do not process this word as a flag or an option
            continue
        fi

        local word="${unparsed_words["${word_index}"]}"
        if ! "${was_flag_option_terminator_seen}"; then
            case "${word}" in
            --)
                unset "unparsed_words[${word_index}]"
                # by itself -- is a flag/option terminator, but if it is the last word, it is the start of a completion
                if [[ "${word_index}" -ne "${unparsed_word_indices[${#unparsed_word_indices[@]} - 1]}" ]]; then
                    was_flag_option_terminator_seen=true
                fi
                continue
                ;;
            -*)
                # ${word} is a flag or an option
                # If ${word} is an option, mark that the next word to be parsed is an option value
                local option
                for option in "${repeating_options[@]}" "${non_repeating_options[@]}"; do
                    [[ "${word}" = "${option}" ]] && is_parsing_option_value=true && break
                done

                # Remove ${word} from ${non_repeating_flags} or ${non_repeating_options} so it isn't offered again
                local not_found=true
                local -i index
                for index in "${!non_repeating_flags[@]}"; do
                    if [[ "${non_repeating_flags[${index}]}" = "${word}" ]]; then
                        unset "non_repeating_flags[${index}]"
                        non_repeating_flags=("${non_repeating_flags[@]}")
                        not_found=false
                        break
                    fi
                done
                if "${not_found}"; then
                    for index in "${!non_repeating_flags[@]}"; do
                        if [[ "${non_repeating_flags[${index}]}" = "${word}" ]]; then
                            unset "non_repeating_flags[${index}]"
                            non_repeating_flags=("${non_repeating_flags[@]}")
                            break
                        fi
                    done
                fi
                unset "unparsed_words[${word_index}]"
                continue
                ;;
            esac
        fi

        # ${word} is neither a flag, nor an option, nor an option value
        if [[ "${positional_number}" -lt "${positional_count}" || "${positional_count}" -lt 0 ]]; then
            # ${word} is a positional
            ((positional_number++))
            unset "unparsed_words[${word_index}]"
        else
            if [[ -z "${word}" ]]; then
                # Could be completing a flag, option, or subcommand
                positional_number=-1
            else
                # ${word} is a subcommand or invalid, so stop processing this (sub)command
                positional_number=-2
            fi
            break
        fi
    done

    unparsed_words=("${unparsed_words[@]}")

    if\
        ! "${was_flag_option_terminator_seen}"\
        && ! "${is_parsing_option_value}"\
        && [[ ("${cur}" = -* && "${positional_number}" -ge 0) || "${positional_number}" -eq -1 ]]
    then
        COMPREPLY+=($(compgen -W "${repeating_flags[*]} ${non_repeating_flags[*]} ${repeating_options[*]} ${non_repeating_options[*]}" -- "${cur}"))
    fi
}

__dlm_add_completions() {
    local completion
    while IFS='' read -r completion; do
        COMPREPLY+=("${completion}")
    done < <(IFS=$'\n' compgen "${@}" -- "${cur}")
}

__dlm_custom_complete() {
    if [[ -n "${cur}" || -z ${COMP_WORDS[${COMP_CWORD}]} || "${COMP_LINE:${COMP_POINT}:1}" != ' ' ]]; then
        local -ar words=("${COMP_WORDS[@]}")
    else
        local -ar words=("${COMP_WORDS[@]::${COMP_CWORD}}" '' "${COMP_WORDS[@]:${COMP_CWORD}}")
    fi

    "${COMP_WORDS[0]}" "${@}" "${words[@]}"
}

_dlm() {
    local state
    state="$(shopt -p;shopt -po)"
    trap "${state//$'\n'/;}" RETURN
    shopt -s extglob
    set +o history +o posix

    local -xr SAP_SHELL=bash
    local -x SAP_SHELL_VERSION
    SAP_SHELL_VERSION="$(IFS='.';printf %s "${BASH_VERSINFO[*]}")"
    local -r SAP_SHELL_VERSION

    local -r cur="${2}"
    local -r prev="${3}"

    local -i positional_number
    local -a unparsed_words=("${COMP_WORDS[@]:1:${COMP_CWORD}}")

    local -a repeating_flags=()
    local -a non_repeating_flags=(--version -h --help)
    local -a repeating_options=()
    local -a non_repeating_options=()
    __dlm_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    get|list|show|pause|resume|cancel|remove|wait|watch|events|limit|priority|set-url|verify|work|manifest|daemon|rpc|doctor|config|help)
        # Offer subcommand argument completions
        "_dlm_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'get list show pause resume cancel remove wait watch events limit priority set-url verify work manifest daemon rpc doctor config help' -- "${cur}"))
        ;;
    esac
}

_dlm_get() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--background -b --ephemeral --no-glob --help-all --manifest-digest --retry-failed --spread --continue -c --content-disposition --no-content-disposition --remote-time --no-remote-time --paused --compressed --hsts --no-hsts --basic --digest --ntlm --negotiate --anyauth --netrc -k --insecure --allow-unverified --allow-rollback --trust-on-first-use --ssl --ssl-reqd -4 --ipv4 -6 --ipv6 --http1.1 --http2 --http3 --follow-metalink --no-follow-metalink --repair --notify --no-notify --json --quiet -q --version -h --help)
    repeating_options=(--window --signed-by --expect-type --query -H --header --data --data-urlencode --resolve --mirror)
    non_repeating_options=(--input-file -i -M --metalink-file --spool --unpack -j --max-concurrent --max-per-host --shard --shard-by --manifest --max-failures --name-by --per-host-rate --state --store --output -o --directory -d --if-exists --limit-rate --retries --retry-delay --max-retry-after --connect-timeout --stall-timeout --max-redirects --priority --retry-on --max-time --at --wait --checksum --checksum-file --verify --expect-status --max-size -A --user-agent -e --referer -X --method -x --connections --user -u --aws-sigv4 --netrc-file --bearer-file --bearer-command --cookie-file --cookie-jar --ca-certificate --crl-file --certificate --private-key --pinned-public-key --tls-min --known-hosts --ssh-key --proto --proxy --no-proxy --interface --doh-url --dns-cache-time --metalink-location --on-complete --on-error --url-command --on-complete-url --on-complete-bearer-file --hook-timeout --progress --color)
    __dlm_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--input-file'|'-i')
        __dlm_add_completions -f
        return
        ;;
    '-M'|'--metalink-file')
        __dlm_add_completions -f
        return
        ;;
    '--spool')
        return
        ;;
    '--unpack')
        __dlm_add_completions -d
        return
        ;;
    '-j'|'--max-concurrent')
        return
        ;;
    '--max-per-host')
        return
        ;;
    '--shard')
        return
        ;;
    '--shard-by')
        __dlm_add_completions -W 'host'$'\n''line'$'\n''url'
        return
        ;;
    '--manifest')
        __dlm_add_completions -f
        return
        ;;
    '--max-failures')
        return
        ;;
    '--name-by')
        __dlm_add_completions -W 'url'$'\n''hash'$'\n''number'
        return
        ;;
    '--per-host-rate')
        return
        ;;
    '--state')
        __dlm_add_completions -d
        return
        ;;
    '--store')
        return
        ;;
    '--output'|'-o')
        __dlm_add_completions -f
        return
        ;;
    '--directory'|'-d')
        __dlm_add_completions -d
        return
        ;;
    '--if-exists')
        __dlm_add_completions -W 'fail'$'\n''overwrite'$'\n''rename'$'\n''skip'$'\n''newer'
        return
        ;;
    '--limit-rate')
        return
        ;;
    '--retries')
        return
        ;;
    '--retry-delay')
        return
        ;;
    '--max-retry-after')
        return
        ;;
    '--connect-timeout')
        return
        ;;
    '--stall-timeout')
        return
        ;;
    '--max-redirects')
        return
        ;;
    '--priority')
        return
        ;;
    '--retry-on')
        return
        ;;
    '--max-time')
        return
        ;;
    '--at')
        return
        ;;
    '--window')
        return
        ;;
    '--wait')
        return
        ;;
    '--checksum')
        __dlm_add_completions -W 'md5:'$'\n''sha1:'$'\n''sha224:'$'\n''sha256:'$'\n''sha384:'$'\n''sha512:'
        return
        ;;
    '--checksum-file')
        __dlm_add_completions -f
        return
        ;;
    '--signed-by')
        __dlm_add_completions -f
        return
        ;;
    '--verify')
        __dlm_add_completions -W 'off'$'\n''headers'$'\n''auto'$'\n''require'
        return
        ;;
    '--expect-type')
        return
        ;;
    '--expect-status')
        return
        ;;
    '--max-size')
        return
        ;;
    '-A'|'--user-agent')
        return
        ;;
    '-e'|'--referer')
        return
        ;;
    '--query')
        return
        ;;
    '-X'|'--method')
        return
        ;;
    '-x'|'--connections')
        __dlm_add_completions -W 'auto'$'\n''1'$'\n''2'$'\n''4'$'\n''8'$'\n''16'
        return
        ;;
    '-H'|'--header')
        return
        ;;
    '--data')
        return
        ;;
    '--data-urlencode')
        return
        ;;
    '--user'|'-u')
        return
        ;;
    '--aws-sigv4')
        return
        ;;
    '--netrc-file')
        __dlm_add_completions -f
        return
        ;;
    '--bearer-file')
        __dlm_add_completions -f
        return
        ;;
    '--bearer-command')
        __dlm_add_completions -f
        return
        ;;
    '--cookie-file')
        __dlm_add_completions -f
        return
        ;;
    '--cookie-jar')
        __dlm_add_completions -f
        return
        ;;
    '--ca-certificate')
        __dlm_add_completions -f
        return
        ;;
    '--crl-file')
        __dlm_add_completions -f
        return
        ;;
    '--certificate')
        __dlm_add_completions -f
        return
        ;;
    '--private-key')
        __dlm_add_completions -f
        return
        ;;
    '--pinned-public-key')
        __dlm_add_completions -f
        return
        ;;
    '--tls-min')
        __dlm_add_completions -W '1.2'$'\n''1.3'
        return
        ;;
    '--known-hosts')
        __dlm_add_completions -f
        return
        ;;
    '--ssh-key')
        __dlm_add_completions -f
        return
        ;;
    '--proto')
        return
        ;;
    '--proxy')
        return
        ;;
    '--no-proxy')
        return
        ;;
    '--interface')
        return
        ;;
    '--resolve')
        return
        ;;
    '--doh-url')
        return
        ;;
    '--dns-cache-time')
        return
        ;;
    '--mirror')
        return
        ;;
    '--metalink-location')
        return
        ;;
    '--on-complete')
        __dlm_add_completions -f
        return
        ;;
    '--on-error')
        __dlm_add_completions -f
        return
        ;;
    '--url-command')
        return
        ;;
    '--on-complete-url')
        return
        ;;
    '--on-complete-bearer-file')
        __dlm_add_completions -f
        return
        ;;
    '--hook-timeout')
        return
        ;;
    '--progress')
        __dlm_add_completions -W 'auto'$'\n''bar'$'\n''plain'$'\n''json'$'\n''none'
        return
        ;;
    '--color')
        __dlm_add_completions -W 'auto'$'\n''always'$'\n''never'
        return
        ;;
    esac
}

_dlm_list() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--all --json --quiet -q --version -h --help)
    repeating_options=(--state)
    non_repeating_options=(--limit --store --color)
    __dlm_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--state')
        __dlm_add_completions -W 'queued'$'\n''running'$'\n''waiting'$'\n''paused'$'\n''completed'$'\n''failed'$'\n''cancelled'
        return
        ;;
    '--limit')
        return
        ;;
    '--store')
        return
        ;;
    '--color')
        __dlm_add_completions -W 'auto'$'\n''always'$'\n''never'
        return
        ;;
    esac
}

_dlm_show() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--json --quiet -q --version -h --help)
    repeating_options=()
    non_repeating_options=(--store --color)
    __dlm_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--store')
        return
        ;;
    '--color')
        __dlm_add_completions -W 'auto'$'\n''always'$'\n''never'
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __dlm_add_completions -W "$(__dlm_custom_complete ---completion show -- positional@0 "${COMP_CWORD}" "$(__dlm_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_dlm_pause() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--all --json --quiet -q --version -h --help)
    repeating_options=(--state)
    non_repeating_options=(--store --host --color)
    __dlm_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--state')
        __dlm_add_completions -W 'queued'$'\n''running'$'\n''waiting'$'\n''paused'$'\n''completed'$'\n''failed'$'\n''cancelled'
        return
        ;;
    '--store')
        return
        ;;
    '--host')
        return
        ;;
    '--color')
        __dlm_add_completions -W 'auto'$'\n''always'$'\n''never'
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __dlm_add_completions -W "$(__dlm_custom_complete ---completion pause -- positional@0 "${COMP_CWORD}" "$(__dlm_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_dlm_resume() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--all --background -b --basic --digest --ntlm --negotiate --anyauth --netrc -k --insecure --allow-unverified --allow-rollback --trust-on-first-use --ssl --ssl-reqd -4 --ipv4 -6 --ipv6 --http1.1 --http2 --http3 --json --quiet -q --version -h --help)
    repeating_options=(--state -H --header --data --data-urlencode --resolve)
    non_repeating_options=(-x --connections --user -u --aws-sigv4 --netrc-file --bearer-file --bearer-command --cookie-file --cookie-jar --ca-certificate --crl-file --certificate --private-key --pinned-public-key --tls-min --known-hosts --ssh-key --proto --proxy --no-proxy --interface --doh-url --dns-cache-time --progress --store --host --color)
    __dlm_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--state')
        __dlm_add_completions -W 'queued'$'\n''running'$'\n''waiting'$'\n''paused'$'\n''completed'$'\n''failed'$'\n''cancelled'
        return
        ;;
    '-x'|'--connections')
        __dlm_add_completions -W 'auto'$'\n''1'$'\n''2'$'\n''4'$'\n''8'$'\n''16'
        return
        ;;
    '-H'|'--header')
        return
        ;;
    '--data')
        return
        ;;
    '--data-urlencode')
        return
        ;;
    '--user'|'-u')
        return
        ;;
    '--aws-sigv4')
        return
        ;;
    '--netrc-file')
        __dlm_add_completions -f
        return
        ;;
    '--bearer-file')
        __dlm_add_completions -f
        return
        ;;
    '--bearer-command')
        __dlm_add_completions -f
        return
        ;;
    '--cookie-file')
        __dlm_add_completions -f
        return
        ;;
    '--cookie-jar')
        __dlm_add_completions -f
        return
        ;;
    '--ca-certificate')
        __dlm_add_completions -f
        return
        ;;
    '--crl-file')
        __dlm_add_completions -f
        return
        ;;
    '--certificate')
        __dlm_add_completions -f
        return
        ;;
    '--private-key')
        __dlm_add_completions -f
        return
        ;;
    '--pinned-public-key')
        __dlm_add_completions -f
        return
        ;;
    '--tls-min')
        __dlm_add_completions -W '1.2'$'\n''1.3'
        return
        ;;
    '--known-hosts')
        __dlm_add_completions -f
        return
        ;;
    '--ssh-key')
        __dlm_add_completions -f
        return
        ;;
    '--proto')
        return
        ;;
    '--proxy')
        return
        ;;
    '--no-proxy')
        return
        ;;
    '--interface')
        return
        ;;
    '--resolve')
        return
        ;;
    '--doh-url')
        return
        ;;
    '--dns-cache-time')
        return
        ;;
    '--progress')
        __dlm_add_completions -W 'auto'$'\n''bar'$'\n''plain'$'\n''json'$'\n''none'
        return
        ;;
    '--store')
        return
        ;;
    '--host')
        return
        ;;
    '--color')
        __dlm_add_completions -W 'auto'$'\n''always'$'\n''never'
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __dlm_add_completions -W "$(__dlm_custom_complete ---completion resume -- positional@0 "${COMP_CWORD}" "$(__dlm_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_dlm_cancel() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--all --json --quiet -q --version -h --help)
    repeating_options=(--state)
    non_repeating_options=(--color)
    __dlm_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--state')
        __dlm_add_completions -W 'queued'$'\n''running'$'\n''waiting'$'\n''paused'$'\n''completed'$'\n''failed'$'\n''cancelled'
        return
        ;;
    '--color')
        __dlm_add_completions -W 'auto'$'\n''always'$'\n''never'
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __dlm_add_completions -W "$(__dlm_custom_complete ---completion cancel -- positional@0 "${COMP_CWORD}" "$(__dlm_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_dlm_remove() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--all --delete-file --json --quiet -q --version -h --help)
    repeating_options=(--state)
    non_repeating_options=(--color)
    __dlm_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--state')
        __dlm_add_completions -W 'queued'$'\n''running'$'\n''waiting'$'\n''paused'$'\n''completed'$'\n''failed'$'\n''cancelled'
        return
        ;;
    '--color')
        __dlm_add_completions -W 'auto'$'\n''always'$'\n''never'
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __dlm_add_completions -W "$(__dlm_custom_complete ---completion remove -- positional@0 "${COMP_CWORD}" "$(__dlm_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_dlm_wait() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--all --any --json --quiet -q --version -h --help)
    repeating_options=(--state)
    non_repeating_options=(--timeout --store --color)
    __dlm_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--state')
        __dlm_add_completions -W 'queued'$'\n''running'$'\n''waiting'$'\n''paused'$'\n''completed'$'\n''failed'$'\n''cancelled'
        return
        ;;
    '--timeout')
        return
        ;;
    '--store')
        return
        ;;
    '--color')
        __dlm_add_completions -W 'auto'$'\n''always'$'\n''never'
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __dlm_add_completions -W "$(__dlm_custom_complete ---completion wait -- positional@0 "${COMP_CWORD}" "$(__dlm_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_dlm_watch() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--all --plain --json --quiet -q --version -h --help)
    repeating_options=(--state)
    non_repeating_options=(--progress --color)
    __dlm_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--state')
        __dlm_add_completions -W 'queued'$'\n''running'$'\n''waiting'$'\n''paused'$'\n''completed'$'\n''failed'$'\n''cancelled'
        return
        ;;
    '--progress')
        __dlm_add_completions -W 'auto'$'\n''bar'$'\n''plain'$'\n''json'$'\n''none'
        return
        ;;
    '--color')
        __dlm_add_completions -W 'auto'$'\n''always'$'\n''never'
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __dlm_add_completions -W "$(__dlm_custom_complete ---completion watch -- positional@0 "${COMP_CWORD}" "$(__dlm_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_dlm_events() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--once --json --quiet -q --version -h --help)
    repeating_options=()
    non_repeating_options=(--since --store --color)
    __dlm_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--since')
        return
        ;;
    '--store')
        return
        ;;
    '--color')
        __dlm_add_completions -W 'auto'$'\n''always'$'\n''never'
        return
        ;;
    esac
}

_dlm_limit() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--all --json --quiet -q --version -h --help)
    repeating_options=(--state)
    non_repeating_options=(--color)
    __dlm_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--state')
        __dlm_add_completions -W 'queued'$'\n''running'$'\n''waiting'$'\n''paused'$'\n''completed'$'\n''failed'$'\n''cancelled'
        return
        ;;
    '--color')
        __dlm_add_completions -W 'auto'$'\n''always'$'\n''never'
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __dlm_add_completions -W 'none'$'\n''500k'$'\n''1M'$'\n''10M'
        return
        ;;
    *)
        __dlm_add_completions -W "$(__dlm_custom_complete ---completion limit -- positional@1 "${COMP_CWORD}" "$(__dlm_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_dlm_priority() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--all --json --quiet -q --version -h --help)
    repeating_options=(--state)
    non_repeating_options=(--color)
    __dlm_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--state')
        __dlm_add_completions -W 'queued'$'\n''running'$'\n''waiting'$'\n''paused'$'\n''completed'$'\n''failed'$'\n''cancelled'
        return
        ;;
    '--color')
        __dlm_add_completions -W 'auto'$'\n''always'$'\n''never'
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __dlm_add_completions -W "$(__dlm_custom_complete ---completion priority -- positional@0 "${COMP_CWORD}" "$(__dlm_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_dlm_set-url() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--json --quiet -q --version -h --help)
    repeating_options=()
    non_repeating_options=(--color)
    __dlm_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '--color')
        __dlm_add_completions -W 'auto'$'\n''always'$'\n''never'
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __dlm_add_completions -W "$(__dlm_custom_complete ---completion set-url -- positional@0 "${COMP_CWORD}" "$(__dlm_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_dlm_verify() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--allow-rollback --json --quiet -q --version -h --help)
    repeating_options=(--signed-by)
    non_repeating_options=(--checksum --checksum-file --color)
    __dlm_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--checksum')
        __dlm_add_completions -W 'md5:'$'\n''sha1:'$'\n''sha224:'$'\n''sha256:'$'\n''sha384:'$'\n''sha512:'
        return
        ;;
    '--checksum-file')
        __dlm_add_completions -f
        return
        ;;
    '--signed-by')
        __dlm_add_completions -f
        return
        ;;
    '--color')
        __dlm_add_completions -W 'auto'$'\n''always'$'\n''never'
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __dlm_add_completions -f
        return
        ;;
    esac
}

_dlm_work() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--wait --manifest-digest --retry-failed --json --quiet -q --version -h --help)
    repeating_options=()
    non_repeating_options=(--store --workers-per-host --lease-time --directory -d --manifest --max-failures --state -j --max-concurrent --max-per-host --progress --color)
    __dlm_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--store')
        return
        ;;
    '--workers-per-host')
        return
        ;;
    '--lease-time')
        return
        ;;
    '--directory'|'-d')
        __dlm_add_completions -d
        return
        ;;
    '--manifest')
        __dlm_add_completions -f
        return
        ;;
    '--max-failures')
        return
        ;;
    '--state')
        __dlm_add_completions -d
        return
        ;;
    '-j'|'--max-concurrent')
        return
        ;;
    '--max-per-host')
        return
        ;;
    '--progress')
        __dlm_add_completions -W 'auto'$'\n''bar'$'\n''plain'$'\n''json'$'\n''none'
        return
        ;;
    '--color')
        __dlm_add_completions -W 'auto'$'\n''always'$'\n''never'
        return
        ;;
    esac
}

_dlm_manifest() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __dlm_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    summary|merge|failed)
        # Offer subcommand argument completions
        "_dlm_manifest_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'summary merge failed' -- "${cur}"))
        ;;
    esac
}

_dlm_manifest_summary() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--json --quiet -q --version -h --help)
    repeating_options=()
    non_repeating_options=(--color)
    __dlm_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--color')
        __dlm_add_completions -W 'auto'$'\n''always'$'\n''never'
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __dlm_add_completions -f
        return
        ;;
    esac
}

_dlm_manifest_merge() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __dlm_offer_flags_options -1

    # Offer positional completions
    case "${positional_number}" in
    *)
        __dlm_add_completions -f
        return
        ;;
    esac
}

_dlm_manifest_failed() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--retryable --json --quiet -q --version -h --help)
    repeating_options=()
    non_repeating_options=(--host --kind --color)
    __dlm_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--host')
        return
        ;;
    '--kind')
        return
        ;;
    '--color')
        __dlm_add_completions -W 'auto'$'\n''always'$'\n''never'
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __dlm_add_completions -f
        return
        ;;
    esac
}

_dlm_daemon() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __dlm_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    run|start|stop|status)
        # Offer subcommand argument completions
        "_dlm_daemon_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'run start stop status' -- "${cur}"))
        ;;
    esac
}

_dlm_daemon_run() {
    repeating_flags=()
    non_repeating_flags=(--rpc --no-rpc --rpc-private-hosts --no-rpc-private-hosts --version -h --help)
    repeating_options=(--rpc-folders --rpc-hosts --rpc-origins)
    non_repeating_options=(-j --max-concurrent --max-per-host --limit-rate --rpc-listen)
    __dlm_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '-j'|'--max-concurrent')
        return
        ;;
    '--max-per-host')
        return
        ;;
    '--limit-rate')
        return
        ;;
    '--rpc-listen')
        return
        ;;
    '--rpc-folders')
        __dlm_add_completions -d
        return
        ;;
    '--rpc-hosts')
        return
        ;;
    '--rpc-origins')
        return
        ;;
    esac
}

_dlm_daemon_start() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--rpc --no-rpc --rpc-private-hosts --no-rpc-private-hosts --json --quiet -q --version -h --help)
    repeating_options=(--rpc-folders --rpc-hosts --rpc-origins)
    non_repeating_options=(-j --max-concurrent --max-per-host --limit-rate --rpc-listen --color)
    __dlm_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '-j'|'--max-concurrent')
        return
        ;;
    '--max-per-host')
        return
        ;;
    '--limit-rate')
        return
        ;;
    '--rpc-listen')
        return
        ;;
    '--rpc-folders')
        __dlm_add_completions -d
        return
        ;;
    '--rpc-hosts')
        return
        ;;
    '--rpc-origins')
        return
        ;;
    '--color')
        __dlm_add_completions -W 'auto'$'\n''always'$'\n''never'
        return
        ;;
    esac
}

_dlm_daemon_stop() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--finish --json --quiet -q --version -h --help)
    repeating_options=()
    non_repeating_options=(--color)
    __dlm_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--color')
        __dlm_add_completions -W 'auto'$'\n''always'$'\n''never'
        return
        ;;
    esac
}

_dlm_daemon_status() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--json --quiet -q --version -h --help)
    repeating_options=()
    non_repeating_options=(--color)
    __dlm_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--color')
        __dlm_add_completions -W 'auto'$'\n''always'$'\n''never'
        return
        ;;
    esac
}

_dlm_rpc() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __dlm_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    secret|open)
        # Offer subcommand argument completions
        "_dlm_rpc_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'secret open' -- "${cur}"))
        ;;
    esac
}

_dlm_rpc_secret() {
    repeating_flags=()
    non_repeating_flags=(--metrics --version -h --help)
    repeating_options=()
    non_repeating_options=()
    __dlm_offer_flags_options 0
}

_dlm_rpc_open() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __dlm_offer_flags_options 0
}

_dlm_doctor() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--basic --digest --ntlm --negotiate --anyauth --netrc -k --insecure --allow-unverified --allow-rollback --trust-on-first-use --ssl --ssl-reqd -4 --ipv4 -6 --ipv6 --http1.1 --http2 --http3 --json --quiet -q --version -h --help)
    repeating_options=(-H --header --resolve)
    non_repeating_options=(--user -u --aws-sigv4 --netrc-file --bearer-file --bearer-command --cookie-file --cookie-jar --ca-certificate --crl-file --certificate --private-key --pinned-public-key --tls-min --known-hosts --ssh-key --proto --proxy --no-proxy --interface --doh-url --dns-cache-time --color)
    __dlm_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-H'|'--header')
        return
        ;;
    '--user'|'-u')
        return
        ;;
    '--aws-sigv4')
        return
        ;;
    '--netrc-file')
        __dlm_add_completions -f
        return
        ;;
    '--bearer-file')
        __dlm_add_completions -f
        return
        ;;
    '--bearer-command')
        __dlm_add_completions -f
        return
        ;;
    '--cookie-file')
        __dlm_add_completions -f
        return
        ;;
    '--cookie-jar')
        __dlm_add_completions -f
        return
        ;;
    '--ca-certificate')
        __dlm_add_completions -f
        return
        ;;
    '--crl-file')
        __dlm_add_completions -f
        return
        ;;
    '--certificate')
        __dlm_add_completions -f
        return
        ;;
    '--private-key')
        __dlm_add_completions -f
        return
        ;;
    '--pinned-public-key')
        __dlm_add_completions -f
        return
        ;;
    '--tls-min')
        __dlm_add_completions -W '1.2'$'\n''1.3'
        return
        ;;
    '--known-hosts')
        __dlm_add_completions -f
        return
        ;;
    '--ssh-key')
        __dlm_add_completions -f
        return
        ;;
    '--proto')
        return
        ;;
    '--proxy')
        return
        ;;
    '--no-proxy')
        return
        ;;
    '--interface')
        return
        ;;
    '--resolve')
        return
        ;;
    '--doh-url')
        return
        ;;
    '--dns-cache-time')
        return
        ;;
    '--color')
        __dlm_add_completions -W 'auto'$'\n''always'$'\n''never'
        return
        ;;
    esac
}

_dlm_config() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--json --quiet -q --version -h --help)
    repeating_options=()
    non_repeating_options=(--color)
    __dlm_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--color')
        __dlm_add_completions -W 'auto'$'\n''always'$'\n''never'
        return
        ;;
    esac
}

_dlm_help() {
    repeating_flags=()
    non_repeating_flags=(--version)
    repeating_options=()
    non_repeating_options=()
    __dlm_offer_flags_options -1
}

complete -o filenames -F _dlm dlm
