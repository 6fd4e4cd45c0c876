# Takes the place of options.sh in a copy of the pipelines, where that is all-options.sh: a pipeline says what parse says to a wrong value of
# each of its options.
. "${here%/*}/all-options.sh"
eval "its_$(declare -f parse)"
parse() {
    local option
    for option in "${declared[@]}"; do
        case ${kind[${option//-/_}]} in
            text) (its_parse "--$option") || true ;;
            *) (its_parse "--$option=x") || true ;;
        esac
    done
    exit
}
