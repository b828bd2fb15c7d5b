// Boost.URL is a compiled library that Debian does not split off; this is its one translation unit.
#include <boost/url/src.hpp>
