import CCurl
import CSystem
import DownloadCore
