@_exported import DownloadCore
@_exported import DownloadEngine
