# Stages with a time budget, for the scripts in this folder (sourced, not run).
#   stage <name> <budget in seconds> <command...>   runs the command and notes its time; fails with it
#   stages_table                                    prints what was noted
stage_rows=()

stage() {
  local name="$1" budget="$2" begin end status=0
  shift 2
  printf '== %s (budget %s s)\n' "$name" "$budget"
  begin="$(date +%s)"
  "$@" || status=$?
  end="$(date +%s)"
  local seconds=$((end - begin)) remark=ok
  [ "$seconds" -le "$budget" ] || remark="over budget"
  [ "$status" = 0 ] || remark="failed ($status)"
  stage_rows+=("$(printf '%-12s %8s %8s  %s' "$name" "$seconds" "$budget" "$remark")")
  return "$status"
}

stages_table() {
  printf '\n%-12s %8s %8s\n' stage seconds budget
  printf '%s\n' "${stage_rows[@]}"
  printf '%-12s %8s\n\n' total "$SECONDS"
}
