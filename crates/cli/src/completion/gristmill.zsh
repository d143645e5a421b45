#compdef gristmill
# Completions of gristmill for Zsh. The program itself finds them: it knows the event types and functions of the profile
# that the command line names.
_gristmill() {
    local program line value about
    local -a whole whole_texts open open_texts
    program=$(whence -p -- "${(Q)words[1]}") || program=gristmill
    while IFS= read -r line; do
        value=${line%%$'\t'*}
        about=${line#*$'\t'}
        if [[ -n $about ]]; then about="$value  -- $about"; else about=$value; fi
        # More follows after a directory, or after an option with a value.
        if [[ $value == *[/=] ]]; then
            open+=("$value")
            open_texts+=("$about")
        else
            whole+=("$value")
            whole_texts+=("$about")
        fi
    done < <("$program" __complete zsh $((CURRENT - 1)) "${(@Q)words}" 2>/dev/null)
    local found=1
    if (( ${#whole} )); then compadd -V gristmill -l -d whole_texts -a whole && found=0; fi
    if (( ${#open} )); then compadd -V gristmill -l -S '' -d open_texts -a open && found=0; fi
    return found
}
if [[ ${funcstack[1]} == _gristmill ]]; then
    _gristmill "$@"
else
    compdef _gristmill gristmill
fi
