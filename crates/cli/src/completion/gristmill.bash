# Completions of gristmill for Bash. The program itself finds them: it knows the event types and functions of the
# profile that the command line names.
_gristmill() {
    local program line
    program=$(type -P -- "$1") || program=gristmill
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("$line")
    done < <("$program" __complete bash "$COMP_WORDBREAKS" "${COMP_LINE:0:COMP_POINT}" "${COMP_LINE:COMP_POINT}" 2>/dev/null)
}
complete -o nosort -o nospace -F _gristmill gristmill 2>/dev/null || complete -o nospace -F _gristmill gristmill
