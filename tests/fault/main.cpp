#include <sys/resource.h>

#include <string>

#include "client/programs.hpp"
#include "wrapped_server.hpp"

namespace {

/// A crowd of five thousand needs more descriptors than a shell gives.
void raise_descriptor_limit() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 3 && argv[1] == std::string(kWatchBelow)) {
        return run_with_few_watches(std::stoi(argv[2]), argv + 3);
    }
    raise_descriptor_limit();
    return client::run_all_tests(argc, argv);
}
