# Compiles each public header on its own with g++ as well: cmake -DSOURCE_DIR=... -DCXX=... -P this file.
file(GLOB_RECURSE headers "${SOURCE_DIR}/include/tilewright/*.h")
set(failed FALSE)
foreach(header IN LISTS headers)
  execute_process(COMMAND "${CXX}" -std=c++20 -fsyntax-only -Wall -Wextra -Werror -x c++ -I "${SOURCE_DIR}/include"
    -include "${header}" /dev/null RESULT_VARIABLE status ERROR_VARIABLE message)
  if(NOT status EQUAL 0)
    message("${header} does not compile with ${CXX}:\n${message}")
    set(failed TRUE)
  endif()
endforeach()
if(failed)
  message(FATAL_ERROR "a public header does not stand on its own")
endif()
