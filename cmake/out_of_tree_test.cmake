# Installs the build, then configures, builds and runs examples/out_of_tree against it as a user would:
#   cmake -DSOURCE_DIR=... -DBINARY_DIR=... -DCXX=... -P this file
get_filename_component(compiler "${CXX}" NAME)
set(work "${BINARY_DIR}/out_of_tree/${compiler}")
file(REMOVE_RECURSE "${work}")
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  message("${output}")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}")
  endif()
endfunction()
step("${CMAKE_COMMAND}" --install "${BINARY_DIR}" --prefix "${work}/prefix")
step("${CMAKE_COMMAND}" -G Ninja -S "${SOURCE_DIR}/examples/out_of_tree" -B "${work}/build" "-DCMAKE_CXX_COMPILER=${CXX}"
  "-DCMAKE_PREFIX_PATH=${work}/prefix" -DCMAKE_BUILD_TYPE=Release)
step("${CMAKE_COMMAND}" --build "${work}/build")
step("${work}/build/rms_norm")
step("${work}/prefix/bin/tilewright" --version)
