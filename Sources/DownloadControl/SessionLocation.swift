import NIOHTTP1
import NIOPosix
import DownloadCore
