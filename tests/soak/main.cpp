#include <string>
#include <vector>

#include "client/programs.hpp"
#include "soak.hpp"

SoakOptions& soak_options() {
    static SoakOptions options;
    return options;
}

int main(int argc, char** argv) {
    const std::string wrk = "--wrk=", seconds = "--seconds=";
    std::vector<char*> others;
    for (int n = 0; n < argc; ++n) {
        const std::string argument = argv[n];
        if (argument.starts_with(wrk)) {
            soak_options().wrk = argument.substr(wrk.size());
        } else if (argument.starts_with(seconds)) {
            soak_options().duration =
                std::chrono::seconds(std::stoi(argument.substr(seconds.size())));
        } else {
            others.push_back(argv[n]);
        }
    }
    return client::run_all_tests(static_cast<int>(others.size()), others.data());
}
