# cmake --install: the library, the command, the public headers and what find_package(Tilewright) reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# A build with shared LLVM leaves a library that finds it where it is; one with static LLVM needs nothing.
set_target_properties(tilewright_lib PROPERTIES EXPORT_NAME tilewright INSTALL_RPATH_USE_LINK_PATH ON)
target_include_directories(tilewright_lib INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
  "$<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>")
target_compile_features(tilewright_lib INTERFACE cxx_std_20)
set_target_properties(tilewright PROPERTIES INSTALL_RPATH "$ORIGIN;$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/Tilewright")
install(TARGETS tilewright_lib EXPORT TilewrightTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS tilewright RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(DIRECTORY "${CMAKE_SOURCE_DIR}/include/tilewright" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
install(EXPORT TilewrightTargets NAMESPACE Tilewright:: DESTINATION "${package}")
configure_package_config_file("${CMAKE_SOURCE_DIR}/cmake/TilewrightConfig.cmake.in"
  "${CMAKE_BINARY_DIR}/TilewrightConfig.cmake" INSTALL_DESTINATION "${package}")
write_basic_package_version_file("${CMAKE_BINARY_DIR}/TilewrightConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/TilewrightConfig.cmake" "${CMAKE_BINARY_DIR}/TilewrightConfigVersion.cmake"
  DESTINATION "${package}")
