# Completions of gristmill for fish. The program itself finds them: it knows the event types and functions of the
# profile that the command line names.
function __gristmill_complete
    set -l before (commandline --current-process --tokenize --cut-at-cursor)
    set -l current (commandline --current-token --cut-at-cursor)
    set -l program gristmill
    if type --query -- $before[1]
        set program $before[1]
    end
    command $program __complete fish (count $before) $before "$current" 2>/dev/null
end
complete --command gristmill --no-files --keep-order --arguments '(__gristmill_complete)'
