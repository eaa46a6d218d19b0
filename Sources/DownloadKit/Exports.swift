@_exported import DownloadCore
