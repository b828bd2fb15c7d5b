set(here ${CMAKE_CURRENT_LIST_DIR})
add_executable(test_fiber_runtime
    ${here}/stackful_fibers_test.cpp ${here}/stackful_pinning_test.cpp
    ${here}/stackful_stack_test.cpp ${here}/stackful_stream_test.cpp
    ${here}/stackful_system_test.cpp)
target_link_libraries(test_fiber_runtime PRIVATE stackful_runtime GTest::gtest_main)
waitbench_add_test(fiber_runtime 120 test_fiber_runtime)

add_executable(test_stackful_server
    ${CMAKE_SOURCE_DIR}/tests/contract/main.cpp ${here}/stackful_server_test.cpp)
target_link_libraries(test_stackful_server PRIVATE test_client)
add_dependencies(test_stackful_server server_stackful downstream_stub)
waitbench_add_test(stackful_server 120 test_stackful_server
    --server=$<TARGET_FILE:server_stackful> --stub=$<TARGET_FILE:downstream_stub>)
