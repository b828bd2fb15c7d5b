// Beast, compiled once for the whole suite.
#include <boost/beast/src.hpp>
