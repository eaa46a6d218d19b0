import GRDB
import DownloadCore
