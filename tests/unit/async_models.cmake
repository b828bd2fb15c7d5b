set(here ${CMAKE_CURRENT_LIST_DIR})
# The pure part of sync_over_async: how its pool grows.
add_executable(test_injection_policy ${here}/injection_policy_test.cpp)
target_link_libraries(test_injection_policy PRIVATE injection_policy GTest::gtest_main)
waitbench_add_test(injection_policy 60 test_injection_policy)

# What only these two servers have, seen from outside. The policy predicts what is to be seen.
foreach(model stackless sync_over_async)
    set(test test_${model}_server)
    add_executable(${test}
        ${CMAKE_SOURCE_DIR}/tests/contract/main.cpp ${here}/${model}_server_test.cpp)
    target_link_libraries(${test} PRIVATE test_client)
    add_dependencies(${test} server_${model} downstream_stub)
    waitbench_add_test(${model}_server 300 ${test}
        --server=$<TARGET_FILE:server_${model}> --stub=$<TARGET_FILE:downstream_stub>)
endforeach()
target_link_libraries(test_sync_over_async_server PRIVATE injection_policy)
