add_executable(test_fiber_runtime ${CMAKE_CURRENT_LIST_DIR}/stackful_fibers_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/stackful_stream_test.cpp)
target_link_libraries(test_fiber_runtime PRIVATE stackful_runtime GTest::gtest_main)
waitbench_add_test(fiber_runtime 120 test_fiber_runtime)
