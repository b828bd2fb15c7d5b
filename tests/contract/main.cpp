#include "client/programs.hpp"

int main(int argc, char** argv) {
    return client::run_all_tests(argc, argv);
}
