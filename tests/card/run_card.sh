#!/usr/bin/env bash
# run_card.sh FOLDER [LOGS]
#
# On a machine with a Hopper: runs the tests that need one, then compute-sanitizer over small runs of the command. FOLDER holds
# tilewright, libtilewright.so, device_programs, unit_sim, unit_cuda, unit_ops, card_calls, agreement, host_bench, and optionally tools/cuda-12.8/bin/ptxas.
# Full output goes to LOGS (default: a new temporary folder). Prints a line for each step and a summary; exit status 1 when a step fails.
set -u

folder=$(cd "${1:?usage: run_card.sh FOLDER [LOGS]}" && pwd) || exit 2
logs=${2:-$(mktemp -d)}
mkdir -p "$logs"
export LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
[ -x "$folder/tools/cuda-12.8/bin/ptxas" ] && export TILEWRIGHT_TOOLS=$folder/tools
export TILEWRIGHT_TEST_DEVICE=cuda
export TILEWRIGHT_CACHE_DIR=$logs/cache  # not the user's
sanitizer=${COMPUTE_SANITIZER:-$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)}

steps=0 failed=()
# step NAME SECONDS COMMAND...: runs it under a time limit; keeps its output in LOGS/NAME.log.
step() {
  local name=$1 seconds=$2 begin=$SECONDS status
  shift 2
  timeout -k 5 "$seconds" "$@" >"$logs/$name.log" 2>&1
  status=$?
  steps=$((steps + 1))
  local note
  note=$(grep -E '^\[  (PASSED|FAILED|SKIPPED) |ERROR SUMMARY|^tilewright:|pass$|FAIL$' "$logs/$name.log" | tail -2 | tr -s ' \n' ' ' | cut -c1-160)
  if [ $status -eq 0 ]; then
    echo "ok   $name ($((SECONDS - begin)) s) $note"
  else
    failed+=("$name")
    echo "FAIL $name: status $status ($((SECONDS - begin)) s) $note"
    tail -n 12 "$logs/$name.log" | cut -c1-200 | sed 's/^/     | /'
  fi
}

# sanitized TOOL NAME ARGUMENTS...: `tilewright run ARGUMENTS` under compute-sanitizer.
sanitized() {
  local tool=$1 name=$2
  shift 2
  step "$tool-$name" 60 "$sanitizer" --tool "$tool" --target-processes application-only --error-exitcode 9 --print-limit 5 "$folder/tilewright" run "$@" --device cuda --check
}

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
step card 60 "$folder/tilewright" run copy --shape 300 --device cuda --check  # fails without a card; the next two would not
step unit_cuda 60 "$folder/unit_cuda" --gtest_brief=1 '--gtest_filter=-CudaTest.*'  # those over the stand-in driver run anywhere
step card_calls 120 "$folder/card_calls" --gtest_brief=1  # two cards show more than one
# A card reports bad offsets with the next call (card_calls asks for that); schedules are the simulated device's.
step unit_ops 200 "$folder/unit_ops" --gtest_brief=1 '--gtest_filter=Gdn*:BatchInvariance.*-GdnOffsets.*:*BadOffsets*:*Schedules*'
step host_bench 60 "$folder/host_bench"
step agreement 120 "$folder/agreement" --json "$logs/agreement.json"
step unit_sim 90 "$folder/unit_sim" --gtest_brief=1
step device_programs 150 "$folder/device_programs" --gtest_brief=1
step tune_planner 150 "$folder/tilewright" tune-planner --output "$logs/costs.json" --json
TILEWRIGHT_PLANNER_COSTS=$logs/costs.json step run_with_its_costs 60 "$folder/tilewright" run gdn-forward --heads 2x8 --lens 4096+700 --device cuda --check --twice

if [ -x "$sanitizer" ]; then
  for tool in memcheck synccheck; do
    sanitized $tool copy copy --shape 300
    for rung in gemm-one-role gemm-two-roles gemm; do
      sanitized $tool $rung $rung --shape 200x264x136
    done
    for form in full split; do
      sanitized $tool gdn-$form gdn-forward --heads 2x4 --lens 131+64+1+0+70 --form $form
      sanitized $tool gdn-$form-margin gdn-forward --heads 1x2 --lens 65+7 --margin 70 --form $form --dtype fp16
      sanitized $tool gdn-$form-64x128 gdn-forward --heads 1x2 --lens 65+7 --margin 70 --form $form --dk 64
    done
    sanitized $tool gdn-64x64 gdn-forward --heads 2x4 --lens 131+64+1+0+70 --dk 64 --dv 64
  done
else
  failed+=(compute-sanitizer)
  echo "FAIL compute-sanitizer not found"
fi

echo "card: $steps steps, ${#failed[@]} failed${failed[*]:+: ${failed[*]}} (logs in $logs)"
[ ${#failed[@]} -eq 0 ]
