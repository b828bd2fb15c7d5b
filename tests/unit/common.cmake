# Whatever common/ decides without waiting.
add_executable(test_common
    ${CMAKE_CURRENT_LIST_DIR}/common_app_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/common_connection_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/common_failure_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/common_metrics_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/common_options_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/common_response_test.cpp)
target_link_libraries(test_common PRIVATE common GTest::gtest_main)
waitbench_add_test(common 60 test_common)
