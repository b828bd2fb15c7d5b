# The pure part of sync_over_async: how its pool grows.
add_executable(test_injection_policy ${CMAKE_CURRENT_LIST_DIR}/injection_policy_test.cpp)
target_link_libraries(test_injection_policy PRIVATE injection_policy GTest::gtest_main)
waitbench_add_test(injection_policy 60 test_injection_policy)
